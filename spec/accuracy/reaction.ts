import type { RuntimeKind } from '#simulator/kubelet/node-machine.ts';
import { steadyLoad } from '#simulator/kubelet/running-container.ts';
import { PATHS, startHpaCluster } from '#spec/support/hpa-cluster.ts';
import { DEFAULTS, Pipeline, type ServedPod } from './pipeline.ts';
import { SocketlessCluster } from './socketless-cluster.ts';
import type { EndpointKind } from './socketless-node.ts';
import { type ErrorTally, Quantiles } from './tally.ts';

/** The settings on which the time to react depends. */
export interface ReactionSettings {
  readonly resolutionMs: number;
  /** Period of the HPA. */
  readonly periodSeconds: number;
  readonly endpoint: EndpointKind;
  /** Whether the kubelet reads containers on demand (`cri`) or caches them. */
  readonly runtime: RuntimeKind;
}

/** Milliseconds from a step of load to a write of the scale. */
export interface Reaction extends ReactionSettings {
  /** The first write. */
  readonly firstMs: ErrorTally;
  /** The write of the replicas that the new load needs. */
  readonly fullMs: ErrorTally;
}

/** Each has a Deployment of one pod and an HPA, and the load of each steps in another second. */
export const STEPS = 60;
/** Different delays of the metrics server, by which its cycles begin later relative to the periods of HPAs. */
export const OFFSETS = 5;

/** Of the request, which is 100 millicores. */
const TARGET_PERCENT = 50;
const [LOAD_MILLICORES, STEPPED_MILLICORES, STEPPED_REPLICAS] = [50, 200, 4];
const MEMORY_BYTES = 64 * 2 ** 20;

/** HPAs trust the CPU usage of a pod after five minutes, whenever it was ready. */
const SETTLED_SECONDS = 330;
const MAX_REACTION_SECONDS = 240;

const POD_METRICS = '/apis/metrics.k8s.io/v1beta1/namespaces/default/pods';
const PODS = '/api/v1/namespaces/default/pods';

/**
 * Measures the time from a step of load in a simulated kubelet to the HPA controller's writes of the scale, at several
 * offsets between scrapes and the periods of HPAs.
 */
export async function measureReaction(settings: ReactionSettings, offsets = OFFSETS): Promise<Reaction> {
  const [first, full] = [new Quantiles(), new Quantiles()];
  for (let offset = 0; offset < offsets; offset++) {
    const offsetMs = (offset * settings.resolutionMs) / offsets;
    for (const { firstMs, fullMs } of await stepLoads(settings, offsetMs)) {
      first.add(firstMs);
      full.add(fullMs);
    }
  }
  return { ...settings, firstMs: first.tally(), fullMs: full.tally() };
}

interface StepReaction {
  readonly firstMs: number;
  readonly fullMs: number;
}

async function stepLoads(settings: ReactionSettings, offsetMs: number): Promise<readonly StepReaction[]> {
  await using cluster = await startHpaCluster({ nodes: 1, podsPerNode: 0, namespaces: ['default'] });
  const { clock } = cluster;
  const names = Array.from({ length: STEPS }, (_, index) => `web-${index}`);
  for (const name of names) {
    await cluster.deployment(name, 1);
    await cluster.hpa(name, {
      metadata: { annotations: { 'platform.stke/resync-period': `${settings.periodSeconds}s` } },
      spec: {
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: TARGET_PERCENT } },
          },
        ],
      },
    });
  }
  const running = async () => (await cluster.api.get(PODS)).body.items.filter(isRunning);
  await cluster.passes(async () => (await running()).length === STEPS, 100);
  const kubelets = new SocketlessCluster(clock);
  kubelets.addNode({ name: 'node-1', ...settings, latencyMs: 20 });
  const load = steadyLoad(LOAD_MILLICORES, MEMORY_BYTES);
  const labels = new Map<string, object>();
  const lives = new Map<string, ReturnType<SocketlessCluster['addPod']>>();
  for (const { metadata } of await running()) {
    const life = kubelets.addPod({
      name: metadata.name,
      node: 'node-1',
      containers: [{ name: 'main', load }],
    });
    labels.set(metadata.name, metadata.labels);
    lives.set(metadata.labels.app, life);
  }
  await clock.advance(offsetMs);
  await using pipeline = new Pipeline(kubelets, {
    ...DEFAULTS,
    resolutionMs: settings.resolutionMs,
    requestTimeoutMs: 4000,
  });
  const serve = () => {
    const items = [...labels].flatMap(([name, ofPod]) => {
      const usage = pipeline.pod(name);
      return usage ? [podMetrics(name, usage, ofPod)] : [];
    });
    cluster.metrics.responses.set(POD_METRICS, { items });
  };
  const elapse = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      await cluster.elapse(1);
      serve();
    }
  };
  await elapse(SETTLED_SECONDS);
  await cluster.lead();
  await elapse(60);
  const steppedAtMs = new Map<string, number>();
  const firstMs = new Map<string, number>();
  const reactions: StepReaction[] = [];
  for (let second = 0; second < MAX_REACTION_SECONDS && reactions.length < STEPS; second++) {
    const name = names[second];
    if (name !== undefined) {
      const container = lives.get(name)?.running.containers[0];
      container?.changeLoad(steadyLoad(STEPPED_MILLICORES, MEMORY_BYTES), clock.monotonicMs());
      steppedAtMs.set(name, clock.monotonicMs());
    }
    await elapse(1);
    const { body } = await cluster.api.get(PATHS.deployments);
    for (const { metadata, spec } of body.items) {
      const sinceMs = steppedAtMs.get(metadata.name);
      if (sinceMs === undefined || spec.replicas === 1) continue;
      const reactionMs = clock.monotonicMs() - sinceMs;
      if (!firstMs.has(metadata.name)) firstMs.set(metadata.name, reactionMs);
      if (spec.replicas < STEPPED_REPLICAS) continue;
      reactions.push({ firstMs: firstMs.get(metadata.name) ?? Number.NaN, fullMs: reactionMs });
      steppedAtMs.delete(metadata.name);
    }
  }
  if (reactions.length < STEPS) throw new Error(`No reaction of ${[...steppedAtMs.keys()]}`);
  return reactions;
}

function isRunning({ status }: { readonly status?: { readonly phase?: string } }): boolean {
  return status?.phase === 'Running';
}

function podMetrics(name: string, { timestampMs, windowMs, containers }: ServedPod, labels: object) {
  return {
    metadata: { name, labels },
    timestamp: new Date(timestampMs).toISOString(),
    window: `${windowMs}ms`,
    containers: containers.map(({ name: container, cpuNanocores }) => ({
      name: container,
      usage: { cpu: `${cpuNanocores}n` },
    })),
  };
}
