import { steadyLoad } from '#simulator/kubelet/running-container.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { DEFAULTS, Pipeline, type PipelineOptions } from './pipeline.ts';
import { type NodeSketch, type PodSketch, SocketlessCluster } from './socketless-cluster.ts';

const MEBIBYTE = 2 ** 20;
/** By then, all have been scraped twice and are served. */
export const SETTLED_MS = 20_000;
/** From one cycle to the same point of the next. */
export const CYCLE_MS = DEFAULTS.resolutionMs;

/** A container with a constant load, by default of 60 millicores. */
export const container = (name: string, millicores = 60) => ({
  name,
  load: steadyLoad(millicores, 24 * MEBIBYTE),
});

/** An hour-old pod with one container on node `a`, with changes. */
export const pod = (name: string, changes: Partial<PodSketch> = {}): PodSketch => ({
  name,
  node: 'a',
  containers: [container('app')],
  startedAtMs: -3_600_000,
  ...changes,
});

/** Node `a` with pod `web`, node `b` with pod `other`, and further objects. */
export function setup({
  a = {},
  pods = [],
  options = {},
}: {
  a?: Partial<NodeSketch>;
  pods?: readonly PodSketch[];
  options?: Partial<PipelineOptions>;
} = {}) {
  const clock = new ManualClock();
  const cluster = new SocketlessCluster(clock);
  cluster.addNode({ name: 'a', ...a });
  cluster.addNode({ name: 'b' });
  const web = cluster.addPod(pod('web'));
  cluster.addPod(pod('other', { node: 'b' }));
  for (const sketch of pods) cluster.addPod(sketch);
  const pipeline = new Pipeline(cluster, { ...DEFAULTS, ...options });
  const containersOf = (name: string) => pipeline.pod(name)?.containers.map((each) => each.name);
  return { clock, cluster, pipeline, web, containersOf };
}
