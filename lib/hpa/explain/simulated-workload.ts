import { getOwn } from '#lib/kubernetes/get-own.ts';
import { type MetricSpec, nameOf } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { ScaledPod } from '#lib/kubernetes/objects/pod.ts';
import { formatThousandths, parseThousandths } from '#lib/kubernetes/quantity.ts';
import type { MetricReading, PodUsage } from '../decision/decision-input.ts';
import type { LoadPoint, Scenario } from './scenario.ts';

/** The pods of a scenario: ready some time after their creation, deleted newest first. */
export class SimulatedWorkload {
  readonly #scenario: Scenario;
  /** Creation times, oldest first. */
  readonly #createdAtMs: number[] = [];

  constructor(scenario: Scenario, startMs: number) {
    this.#scenario = scenario;
    // The initial pods have been running for long.
    for (let pod = 0; pod < scenario.replicas; pod++) this.#createdAtMs.push(startMs - 3_600_000);
  }

  get replicas(): number {
    return this.#createdAtMs.length;
  }

  scaleTo(replicas: number, nowMs: number): void {
    this.#createdAtMs.length = Math.min(this.#createdAtMs.length, replicas);
    while (this.#createdAtMs.length < replicas) this.#createdAtMs.push(nowMs);
  }

  readyCount(nowMs: number): number {
    return this.#createdAtMs.filter((atMs) => this.#readyAtMs(atMs) <= nowMs).length;
  }

  pods(nowMs: number): ScaledPod[] {
    const { requests } = this.#scenario;
    return this.#createdAtMs.map((createdAtMs, index) => {
      const readyAtMs = this.#readyAtMs(createdAtMs);
      const isReady = readyAtMs <= nowMs;
      return {
        name: `pod-${index}`,
        labels: { app: 'scenario' },
        phase: 'Running',
        isDeleting: false,
        startedAtMs: createdAtMs,
        ready: { status: isReady ? 'True' : 'False', changedAtMs: isReady ? readyAtMs : createdAtMs },
        containers: [{ name: this.#containerName(), requests }],
        initContainers: [],
        podRequests: {},
        overhead: {},
      };
    });
  }

  /** The reading of a metric: ready pods share the load, others use nothing. */
  reading(spec: MetricSpec, load: LoadPoint['values'], nowMs: number): MetricReading {
    const name = nameOf(spec);
    const value = getOwn(load, name);
    if (value === undefined) return { error: `the scenario has no value of ${name}` };
    if (spec.type === 'Object') return { value, takenAtMs: nowMs };
    if (spec.type === 'External') return { values: [value], takenAtMs: nowMs };
    const ready = BigInt(this.readyCount(nowMs));
    const share = ready === 0n ? '0' : formatThousandths(parseThousandths(value) / ready);
    const shares = this.#createdAtMs.map((atMs, index) => ({
      pod: `pod-${index}`,
      value: this.#readyAtMs(atMs) <= nowMs ? share : '0',
    }));
    if (spec.type === 'Pods') return { podValues: shares, takenAtMs: nowMs };
    const podUsage = shares.map(
      ({ pod, value: used }): PodUsage => ({
        pod,
        takenAtMs: nowMs,
        windowMs: 30_000,
        containers: [{ name: this.#containerName(), usage: { [name]: used } }],
      }),
    );
    return { podUsage };
  }

  #readyAtMs(createdAtMs: number): number {
    return createdAtMs + this.#scenario.startupMs;
  }

  /** The only container of pods is the one that the HPA names. */
  #containerName(): string {
    const { metrics = [] } = this.#scenario.hpa.spec;
    return (
      metrics.flatMap((spec) =>
        spec.type === 'ContainerResource' ? spec.containerResource.container : [],
      )[0] ?? 'app'
    );
  }
}
