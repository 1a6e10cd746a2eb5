import { KubeletStatusError } from '#lib/resource-metrics/scrape/kubelet/kubelet-error.ts';
import type { Clock } from '#lib/time/clock.ts';
import { formatExposition } from '#simulator/kubelet/exposition.ts';
import { NodeClock } from '#simulator/kubelet/node-clock.ts';
import { NodeMachine, type RuntimeKind } from '#simulator/kubelet/node-machine.ts';
import { steadyLoad } from '#simulator/kubelet/running-container.ts';
import { formatSummary } from '#simulator/kubelet/summary.ts';

/** The endpoint that a kubelet serves: `/stats/summary`, or only `/metrics/resource`. */
export type EndpointKind = 'summary' | 'resource';

const GIBIBYTE = 2 ** 30;
const DAY_MS = 86_400_000;

/** No value is computed from an earlier one. */
const MAX_READS = 8;

/** One node over all its boots, scraped without sockets. */
export class SocketlessNode {
  readonly name: string;
  readonly clock: NodeClock;
  readonly endpoint: EndpointKind;
  readonly runtime: RuntimeKind;
  /** Each boot is another machine, whose counters start at zero. */
  readonly #boots: NodeMachine[] = [];
  readonly #time: Clock;
  /** Whether its packets are lost; it refuses connections while it boots. */
  reach: 'reachable' | 'lost' | 'refusing' = 'reachable';
  /** Whether its kubelet repeats its last response, as one does that no longer samples. */
  isStuck = false;
  readonly #lastResponses = new Map<string, string>();
  /** Response time. */
  latencyMs: number;
  readonly usualLatencyMs: number;
  /** Share of the response time after which the kubelet reads the counters. */
  readAfter: () => number = () => 0.5;
  /** How late the next scrape starts, as when this process or the network is busy. */
  lateByMs: () => number = () => 0;
  /** When the kubelet read the counters of its last responses, by the monotonic clock. */
  readonly #readAtMs: number[] = [];
  /** Maximum number of concurrent requests so far. */
  maxInFlight = 0;
  #inFlight = 0;

  constructor(
    name: string,
    clock: Clock,
    {
      endpoint = 'summary',
      runtime = 'cri',
      skewMs = 0,
      latencyMs = 0,
    }: { endpoint?: EndpointKind; runtime?: RuntimeKind; skewMs?: number; latencyMs?: number },
  ) {
    this.name = name;
    this.#time = clock;
    this.clock = new NodeClock(clock, skewMs);
    this.endpoint = endpoint;
    this.runtime = runtime;
    this.latencyMs = latencyMs;
    this.usualLatencyMs = latencyMs;
    this.#boot(clock.monotonicMs() - DAY_MS);
  }

  /** The machine since the last boot. */
  get machine(): NodeMachine {
    return this.machineAt(this.clock.nowMs());
  }

  /** The machine of the last boot before a time. */
  machineAt(momentMs: number): NodeMachine {
    const booted = this.#boots.findLast(({ bootedAtMs }) => bootedAtMs <= momentMs) ?? this.#boots[0];
    if (!booted) throw new Error(`Node "${this.name}" was never booted`);
    return booted;
  }

  /** Crashes: its containers stop, and it does not respond. */
  crash(): void {
    this.reach = 'refusing';
    for (const { containers } of this.machine.pods())
      for (const container of containers) container.stop(this.clock.nowMs());
  }

  /** Boots again with the same pods; counters start at zero. */
  boot(): void {
    const pods = [...this.machine.pods()];
    const nowMs = this.clock.nowMs();
    const machine = this.#boot(nowMs);
    for (const pod of pods) {
      for (const container of pod.containers) container.restart(nowMs);
      machine.start(pod, nowMs);
    }
    this.reach = 'reachable';
  }

  /** @throws the same errors as a kubelet's client */
  async response(
    path: string,
    { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
  ): Promise<string> {
    if (this.reach === 'refusing') throw new Error('connection refused');
    this.maxInFlight = Math.max(this.maxInFlight, ++this.#inFlight);
    try {
      return await this.#response(path, { signal, timeoutMs });
    } finally {
      this.#inFlight--;
    }
  }

  async #response(
    path: string,
    { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
  ): Promise<string> {
    if (this.reach === 'lost' || this.latencyMs > timeoutMs) {
      await this.#time.sleep(timeoutMs, { signal });
      throw new Error('no complete response in time');
    }
    const beforeMs = Math.round(this.latencyMs * this.readAfter());
    const afterMs = this.latencyMs - beforeMs;
    if (beforeMs > 0) await this.#time.sleep(beforeMs, { signal });
    const text = this.#textOf(path);
    if (afterMs > 0) await this.#time.sleep(afterMs, { signal });
    return text;
  }

  #textOf(path: string): string {
    const text = (this.isStuck && this.#lastResponses.get(path)) || this.#sample(path);
    this.#lastResponses.set(path, text);
    return text;
  }

  #sample(path: string): string {
    this.#noteRead();
    if (path === '/metrics/resource') return formatExposition(this.machine);
    if (this.endpoint === 'resource') throw new KubeletStatusError(403, 'Forbidden');
    return formatSummary(this.machine, { onlyCpuAndMemory: path.endsWith('only_cpu_and_memory=true') });
  }

  /** When the kubelet read the counters of its last responses, oldest first. */
  get readAtMs(): readonly number[] {
    return this.#readAtMs;
  }

  #noteRead(): void {
    this.#readAtMs.push(this.#time.monotonicMs());
    if (this.#readAtMs.length > MAX_READS) this.#readAtMs.shift();
  }

  #boot(bootedAtMs: number): NodeMachine {
    const machine = new NodeMachine(this.name, this.clock, {
      runtime: this.runtime,
      memoryBytes: 32 * GIBIBYTE,
      bootedAtMs,
      system: steadyLoad(120, 300 * 2 ** 20),
    });
    this.#boots.push(machine);
    return machine;
  }
}
