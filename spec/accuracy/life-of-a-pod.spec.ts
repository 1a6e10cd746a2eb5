import { expect } from 'chai';
import { PodReducer } from '#lib/resource-metrics/nodes/pod-cache.ts';
import { CYCLE_MS, container, pod, SETTLED_MS, setup } from './small-cluster.ts';

describe('the life of a pod', () => {
  it('ends when it is deleted, even if its kubelet still reports it', async () => {
    const { clock, cluster, pipeline, web } = setup();
    await clock.advance(SETTLED_MS);
    cluster.renounce(web);
    expect(pipeline.pod('web')).to.equal(undefined);
    await clock.advance(CYCLE_MS);
    expect(pipeline.pod('web')).to.equal(undefined);
  });

  it('begins when the API server lists it, even if its kubelet has reported it for long', async () => {
    const { clock, cluster, pipeline } = setup();
    const early = cluster.runPod(pod('early'));
    await clock.advance(SETTLED_MS);
    expect(pipeline.pod('early')).to.equal(undefined);
    cluster.announce(early);
    expect(pipeline.pod('early')?.windowMs).to.equal(12_000);
  });

  it('has no metrics while its kubelet does not report it', async () => {
    const { clock, cluster, pipeline } = setup();
    cluster.livePods.set('pending', { namespace: 'default', name: 'pending', uid: 'pending', labels: {} });
    await clock.advance(SETTLED_MS);
    expect(pipeline.pod('pending')).to.equal(undefined);
  });

  for (const endpoint of ['summary', 'resource'] as const) {
    it(`is not confused with its predecessor's on a node that is cut off (${endpoint})`, async () => {
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

  it('is distinguished from its predecessor while both are reported', async () => {
    const { clock, cluster, pipeline } = setup({
      pods: [pod('db-0', { containers: [container('app', 900)] })],
    });
    await clock.advance(SETTLED_MS);
    cluster.addPod(pod('db-0', { node: 'b', startedAtMs: clock.monotonicMs() }));
    await clock.advance(2 * CYCLE_MS);
    expect(pipeline.pod('db-0')?.containers[0]?.cpuNanocores).to.equal(60_000_000);
  });

  it('is served even if it is static: the API server has another UID for it', async () => {
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
