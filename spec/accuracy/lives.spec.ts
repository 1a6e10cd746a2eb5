import { expect } from 'chai';
import { PodReducer } from '#lib/resource-metrics/pods/pod-reducer.ts';
import { steadyLoad } from '#lib/simulator/kubelet/load.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { DEFAULTS, Pipeline, type PipelineOptions } from './pipeline.ts';
import { type NodeSketch, type PodSketch, SocketlessCluster } from './socketless-cluster.ts';

const MEBIBYTE = 2 ** 20;
/** By now all have been read twice and served. */
const SETTLED_MS = 20_000;
/** From one cycle to the same point of the next. */
const CYCLE_MS = DEFAULTS.resolutionMs;

const container = (name: string, millicores = 60) => ({
  name,
  load: steadyLoad(millicores, 24 * MEBIBYTE),
});

/** An hour-old pod of one container on node `a`, unless told otherwise. */
const pod = (name: string, changes: Partial<PodSketch> = {}): PodSketch => ({
  name,
  node: 'a',
  containers: [container('app')],
  startedAtMs: -3_600_000,
  ...changes,
});

/** Node `a` with pod `web`, node `b` with pod `other`, and whatever else. */
function setup({
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

describe('the life of a node', () => {
  for (const resolutionMs of [10_000, 15_000, 60_000, 300_000]) {
    it(`is told of after 13 s at a resolution of ${resolutionMs / 1000} s`, async () => {
      const options = { resolutionMs, requestTimeoutMs: 9000, stalenessMs: resolutionMs + 9000 };
      const { clock, pipeline } = setup({ options });
      await clock.advance(13_000);
      expect(pipeline.sink.isReady).to.equal(true);
      for (const name of ['web', 'other']) expect(pipeline.pod(name)?.windowMs).to.equal(12_000);
    });
  }

  for (const [resolutionMs, requestTimeoutMs] of [
    [60_000, 10_000],
    [60_000, 54_000],
    [15_000, 10_000],
    [10_000, 9000],
  ] as const) {
    const setting = `resolution ${resolutionMs / 1000} s, timeout ${requestTimeoutMs / 1000} s`;
    const options = { resolutionMs, requestTimeoutMs, stalenessMs: resolutionMs + requestTimeoutMs };

    for (const latencyMs of [0, requestTimeoutMs - 10]) {
      it(`bridges one lost scrape, of a kubelet that answers in ${latencyMs} ms (${setting})`, async () => {
        const { clock, cluster, pipeline } = setup({ options });
        const node = cluster.node('a');
        node.latencyMs = latencyMs;
        await clock.advance(12_000 + 2 * resolutionMs - 1);
        const before = pipeline.node('a');
        expect(before).not.to.equal(undefined);
        node.reach = 'lost';
        await clock.advance(resolutionMs);
        expect(pipeline.sink.staleCounts).to.deep.equal({ node: 1, pod: 1 });
        node.reach = 'reachable';
        for (let seconds = 0; seconds * 1000 < latencyMs; seconds++) {
          expect(pipeline.node('a')).to.equal(before);
          expect(pipeline.pod('web')).not.to.equal(undefined);
          await clock.advance(1000);
        }
        await clock.advance(1000);
        expect(pipeline.node('a')?.timestampMs).to.be.above(before?.timestampMs ?? 0);
        expect(pipeline.sink.staleCounts).to.deep.equal({ node: 0, pod: 0 });
      });

      it(`does not bridge two, of a kubelet that answers in ${latencyMs} ms (${setting})`, async () => {
        const { clock, cluster, pipeline } = setup({ options });
        const node = cluster.node('a');
        node.latencyMs = latencyMs;
        await clock.advance(12_000 + 2 * resolutionMs - 1);
        const before = pipeline.node('a');
        node.reach = 'lost';
        await clock.advance(resolutionMs + requestTimeoutMs - 100);
        expect(pipeline.node('a')).to.equal(before);
        await clock.advance(200);
        expect(pipeline.node('a')).to.equal(undefined);
        expect(pipeline.pod('web')).to.equal(undefined);
        expect(pipeline.pod('other')).not.to.equal(undefined);
      });
    }
  }

  it('bridges the loss of the second scrape, 12 s after the first, and not that of the third', async () => {
    const { clock, cluster, pipeline } = setup();
    await clock.advance(5000);
    cluster.node('a').reach = 'lost';
    await clock.advance(72_000);
    expect(pipeline.node('a')).not.to.equal(undefined);
    await clock.advance(10_000);
    expect(pipeline.node('a')).to.equal(undefined);
  });

  it('is dropped with the first lost scrape at a staleness of 0', async () => {
    const { clock, cluster, pipeline } = setup({ options: { stalenessMs: 0 } });
    await clock.advance(71_000);
    cluster.node('a').reach = 'refusing';
    expect(pipeline.node('a')).not.to.equal(undefined);
    await clock.advance(1100);
    expect(pipeline.node('a')).to.equal(undefined);
    expect(pipeline.node('b')).not.to.equal(undefined);
  });

  it('goes on with the first answer after a partition', async () => {
    const { clock, cluster, pipeline } = setup();
    await clock.advance(SETTLED_MS);
    cluster.node('a').reach = 'lost';
    await clock.advance(3 * CYCLE_MS);
    cluster.node('a').reach = 'reachable';
    await clock.advance(CYCLE_MS);
    expect(pipeline.pod('web')).to.deep.include({ windowMs: 4 * CYCLE_MS });
    expect(pipeline.pod('web')?.containers[0]?.cpuNanocores).to.equal(60_000_000);
  });

  it('ends, with its pods, when it is deleted', async () => {
    const { clock, cluster, pipeline } = setup();
    await clock.advance(SETTLED_MS);
    const web = cluster.livePods.get('web');
    cluster.removeNode('a');
    if (web) cluster.livePods.set('web', web); // the garbage collector takes some time
    expect(pipeline.node('a')).to.equal(undefined);
    await clock.advance(CYCLE_MS);
    expect(pipeline.pod('web')).to.equal(undefined);
  });

  it('begins anew under another name', async () => {
    const { clock, cluster, pipeline } = setup();
    await clock.advance(SETTLED_MS);
    cluster.removeNode('a');
    cluster.addNode({ name: 'renamed' });
    cluster.addPod(pod('web', { node: 'renamed' }));
    await clock.advance(CYCLE_MS);
    expect(pipeline.node('a')).to.equal(undefined);
    expect(pipeline.node('renamed')).not.to.equal(undefined);
    await clock.advance(CYCLE_MS);
    expect(pipeline.pod('web')?.windowMs).to.equal(CYCLE_MS);
  });

  it('is never measured across a reboot', async () => {
    const { clock, cluster, pipeline } = setup();
    await clock.advance(SETTLED_MS);
    cluster.node('a').crash();
    await clock.advance(30_000);
    cluster.node('a').boot();
    for (let cycle = 0; cycle < 4; cycle++) {
      await clock.advance(CYCLE_MS);
      expect(pipeline.node('a')?.cpuNanocores).to.be.closeTo(180_000_000, 18_000_000);
      expect(pipeline.pod('web')?.containers[0]?.cpuNanocores).to.be.closeTo(60_000_000, 3_000_000);
    }
  });

  for (const hours of [-24, -1, 1, 24]) {
    it(`loses a reading, and no truth, when its clock is stepped by ${hours} h`, async () => {
      const { clock, cluster, pipeline } = setup();
      await clock.advance(SETTLED_MS);
      cluster.node('a').clock.skewMs += hours * 3_600_000;
      await clock.advance(CYCLE_MS);
      expect(pipeline.pod('web')).to.equal(undefined);
      expect(pipeline.node('a')).not.to.equal(undefined);
      for (let cycle = 0; cycle < 70; cycle++) {
        await clock.advance(CYCLE_MS);
        expect(pipeline.pod('web')?.containers[0]?.cpuNanocores).to.equal(60_000_000);
      }
    });
  }

  it('does not need the summary', async () => {
    const { clock, pipeline } = setup({ a: { endpoint: 'resource' } });
    await clock.advance(SETTLED_MS);
    expect(pipeline.pod('web')?.containers[0]?.cpuNanocores).to.be.closeTo(60_000_000, 100_000);
    await clock.advance(CYCLE_MS);
    expect(pipeline.node('a')?.cpuNanocores).to.be.closeTo(180_000_000, 2_000_000);
  });

  it('has one request in flight, though its summaries take minutes', async () => {
    const { clock, cluster, pipeline } = setup({ options: { requestTimeoutMs: 54_000 } });
    cluster.node('a').latencyMs = 53_000;
    await clock.advance(4 * CYCLE_MS);
    expect(cluster.node('a').mostInFlight).to.equal(1);
    expect(pipeline.pod('web')?.windowMs).to.equal(CYCLE_MS);
    cluster.node('a').latencyMs = 200_000;
    await clock.advance(8 * CYCLE_MS);
    expect(cluster.node('a').mostInFlight).to.equal(1);
    expect(pipeline.pod('web')).to.equal(undefined);
    expect(pipeline.pod('other')).not.to.equal(undefined);
  });
});

describe('the life of a pod', () => {
  it('ends when it is deleted, though its kubelet still knows it', async () => {
    const { clock, cluster, pipeline, web } = setup();
    await clock.advance(SETTLED_MS);
    cluster.renounce(web);
    expect(pipeline.pod('web')).to.equal(undefined);
    await clock.advance(CYCLE_MS);
    expect(pipeline.pod('web')).to.equal(undefined);
  });

  it('begins when the API server tells of it, though its kubelet has known it for long', async () => {
    const { clock, cluster, pipeline } = setup();
    const early = cluster.runPod(pod('early'));
    await clock.advance(SETTLED_MS);
    expect(pipeline.pod('early')).to.equal(undefined);
    cluster.announce(early);
    expect(pipeline.pod('early')?.windowMs).to.equal(12_000);
  });

  it('has no metrics while its kubelet does not know it', async () => {
    const { clock, cluster, pipeline } = setup();
    cluster.livePods.set('pending', { namespace: 'default', name: 'pending', uid: 'pending', labels: {} });
    await clock.advance(SETTLED_MS);
    expect(pipeline.pod('pending')).to.equal(undefined);
  });

  for (const endpoint of ['summary', 'resource'] as const) {
    it(`is not taken for that of its predecessor on a node that is cut off (${endpoint})`, async () => {
      const first = pod('db-0', { containers: [container('app', 900)] });
      const { clock, cluster, pipeline } = setup({ a: { endpoint }, pods: [first] });
      await clock.advance(SETTLED_MS);
      expect(pipeline.pod('db-0')?.containers[0]?.cpuNanocores).to.be.closeTo(900_000_000, 1_000_000);
      cluster.node('a').reach = 'lost';
      await clock.advance(5000);
      cluster.addPod(pod('db-0', { node: 'b', startedAtMs: clock.monotonicMs() }));
      expect(pipeline.pod('db-0')).to.equal(undefined);
      await clock.advance(CYCLE_MS);
      expect(pipeline.pod('db-0')?.containers[0]?.cpuNanocores).to.be.closeTo(60_000_000, 3_000_000);
    });
  }

  it('is told from its predecessor while both are reported', async () => {
    const { clock, cluster, pipeline } = setup({
      pods: [pod('db-0', { containers: [container('app', 900)] })],
    });
    await clock.advance(SETTLED_MS);
    cluster.addPod(pod('db-0', { node: 'b', startedAtMs: clock.monotonicMs() }));
    await clock.advance(2 * CYCLE_MS);
    expect(pipeline.pod('db-0')?.containers[0]?.cpuNanocores).to.equal(60_000_000);
  });

  it('is told of though it is static: the API server has another UID for it', async () => {
    const hash = 'e6f5d2bd4a0f1c8b6a1f4c2d9b7e3a05';
    const { clock, cluster, pipeline } = setup();
    cluster.runPod(pod('etcd-a', { kubeletUid: hash }));
    const mirror = new PodReducer().reduce({
      metadata: {
        namespace: 'default',
        name: 'etcd-a',
        uid: '0d1f5c3a-7a0e-4b52-9d4e-3f1d8c1f7f11',
        annotations: { 'kubernetes.io/config.mirror': hash },
      },
    });
    if (mirror) cluster.livePods.set('etcd-a', mirror);
    await clock.advance(SETTLED_MS);
    expect(pipeline.pod('etcd-a')?.containers[0]?.cpuNanocores).to.equal(60_000_000);
  });

  it('has no metrics without containers', async () => {
    const { clock, pipeline } = setup({ pods: [pod('bare', { containers: [] })] });
    await clock.advance(SETTLED_MS);
    expect(pipeline.pod('bare')).to.equal(undefined);
    expect(pipeline.pod('web')).not.to.equal(undefined);
  });

  for (const endpoint of ['summary', 'resource'] as const) {
    for (const unknown of [['cpu'], ['memory'], ['cpu', 'memory']] as const) {
      it(`has no metrics while a container's ${unknown.join(' and ')} is 0 (${endpoint})`, async () => {
        const containers = [container('app'), { ...container('dark'), unknown }];
        const { clock, pipeline } = setup({ a: { endpoint }, pods: [pod('partial', { containers })] });
        await clock.advance(SETTLED_MS);
        expect(pipeline.pod('partial')).to.equal(undefined);
        expect(pipeline.pod('web')).not.to.equal(undefined);
      });
    }
  }
});

describe('the life of a container', () => {
  it('begins in the cycle after its start, averaged over its age', async () => {
    const { clock, cluster, pipeline } = setup();
    await clock.advance(42_000);
    cluster.addPod(pod('young', { startedAtMs: clock.monotonicMs() }));
    await clock.advance(31_100);
    expect(pipeline.pod('young')?.windowMs).to.be.within(30_000, 31_000);
    expect(pipeline.pod('young')?.containers[0]?.cpuNanocores).to.be.closeTo(60_000_000, 2_000_000);
  });

  it('waits for a second reading when it is younger than 10 s at the first', async () => {
    const { clock, cluster, pipeline } = setup();
    await clock.advance(65_000);
    cluster.addPod(pod('young', { startedAtMs: clock.monotonicMs() }));
    await clock.advance(15_000);
    expect(pipeline.pod('young')).to.equal(undefined);
    await clock.advance(CYCLE_MS);
    expect(pipeline.pod('young')?.windowMs).to.equal(CYCLE_MS);
  });

  it('is never measured across a restart', async () => {
    const { clock, pipeline, web } = setup();
    await clock.advance(SETTLED_MS);
    for (const afterMs of [7000, 23_000, 41_000, 53_000]) {
      await clock.advance(afterMs);
      web.running.containers[0]?.restart(clock.monotonicMs());
      await clock.advance(CYCLE_MS);
      const [usage] = pipeline.pod('web')?.containers ?? [];
      if (usage) expect(usage.cpuNanocores).to.be.closeTo(60_000_000, 3_000_000);
      await clock.advance(CYCLE_MS);
      expect(pipeline.pod('web')?.containers[0]?.cpuNanocores).to.equal(60_000_000);
    }
  });

  it('is left out of its pod while it waits to be restarted after a crash', async () => {
    const containers = [container('app'), container('flaky')];
    const { clock, cluster, containersOf } = setup({ pods: [pod('duo', { containers })] });
    await clock.advance(SETTLED_MS);
    const flaky = cluster.lives.get(cluster.livePods.get('duo')?.uid ?? '')?.running.containers[1];
    flaky?.stop(clock.monotonicMs());
    await clock.advance(CYCLE_MS);
    expect(containersOf('duo')).to.deep.equal(['app']);
    flaky?.restart(clock.monotonicMs());
    await clock.advance(2 * CYCLE_MS);
    expect(containersOf('duo')).to.deep.equal(['app', 'flaky']);
  });

  it('joins those of its pod when it is an ephemeral one', async () => {
    const { clock, containersOf, web } = setup();
    await clock.advance(SETTLED_MS);
    web.join(container('debugger'));
    await clock.advance(CYCLE_MS);
    expect(containersOf('web')).to.deep.equal(['app', 'debugger']);
  });

  it('counts beside the others when it is a sidecar, which started before the init containers', async () => {
    const { clock, containersOf, web } = setup();
    const sidecar = web.join(container('sidecar'));
    const init = web.join({ ...container('init'), unknown: ['cpu', 'memory'] });
    await clock.advance(5000);
    web.join(container('main'));
    await clock.advance(2 * CYCLE_MS);
    expect(containersOf('web')).to.deep.equal(['app', 'sidecar', 'main']);
    expect(sidecar.isRunning(clock.monotonicMs()) && init.isRunning(clock.monotonicMs())).to.equal(true);
  });

  it('stays as it was while cAdvisor does not look, for five minutes at most', async () => {
    const { clock, pipeline } = setup({ a: { runtime: 'cadvisor' } });
    for (let cycle = 0; cycle < 20; cycle++) {
      await clock.advance(CYCLE_MS);
      const [usage] = pipeline.pod('web')?.containers ?? [];
      expect(usage?.cpuNanocores).to.be.closeTo(60_000_000, 3_000_000);
    }
  });
});
