import { expect } from 'chai';
import { CYCLE_MS, pod, SETTLED_MS, setup } from './small-cluster.ts';

const EVERY_5_S = {
  resolutionMs: 5000,
  requestTimeoutMs: 4000,
  stalenessMs: 9000,
  endpoint: 'resource',
} as const;

describe('the life of a node', () => {
  for (const resolutionMs of [10_000, 15_000, 60_000, 300_000]) {
    it(`has metrics after 13 s at a resolution of ${resolutionMs / 1000} s`, async () => {
      const options = { resolutionMs, requestTimeoutMs: 9000, stalenessMs: resolutionMs + 9000 };
      const { clock, pipeline } = setup({ options });
      await clock.advance(13_000);
      expect(pipeline.sink.isReady).to.equal(true);
      for (const name of ['web', 'other']) expect(pipeline.pod(name)?.windowMs).to.equal(12_000);
    });
  }

  it('has a window of 5 s at a resolution of 5 s, from /metrics/resource', async () => {
    const { clock, pipeline } = setup({ options: EVERY_5_S });
    await clock.advance(13_000);
    expect(pipeline.pod('web')?.windowMs).to.equal(12_000);
    for (let cycle = 0; cycle < 5; cycle++) {
      await clock.advance(5000);
      expect(pipeline.pod('web')?.windowMs).to.equal(5000);
      expect(pipeline.pod('web')?.containers[0]?.cpuNanocores).to.equal(60_000_000);
      if (cycle > 1) expect(pipeline.node('a')?.windowMs).to.equal(10_020); // of the kubelet's housekeeping
    }
  });

  it('has a sample with its own timestamp while a kubelet samples less often', async () => {
    const { clock, pipeline } = setup({ a: { runtime: 'cadvisor' }, options: EVERY_5_S });
    await clock.advance(60_000);
    const served = new Map<number, number>();
    for (let cycle = 0; cycle < 24; cycle++) {
      await clock.advance(5000);
      const { timestampMs = 0, windowMs = 0 } = pipeline.pod('web') ?? {};
      expect(clock.nowMs() - timestampMs).to.be.within(0, 25_000);
      served.set(timestampMs, windowMs);
    }
    expect(served.size).to.be.within(6, 12);
    for (const windowMs of served.values()) expect(windowMs).to.be.within(10_000, 20_000);
  });

  it('continues with the first response after a partition', async () => {
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

  it('begins again under another name', async () => {
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
    it(`loses a reading, but no accuracy, when its clock is stepped by ${hours} h`, async () => {
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

  it('has one request in flight, even if its summaries take minutes', async () => {
    const { clock, cluster, pipeline } = setup({ options: { requestTimeoutMs: 54_000 } });
    cluster.node('a').latencyMs = 53_000;
    await clock.advance(5 * CYCLE_MS);
    expect(cluster.node('a').maxInFlight).to.equal(1);
    expect(pipeline.pod('web')?.windowMs).to.equal(CYCLE_MS);
    cluster.node('a').latencyMs = 200_000;
    await clock.advance(8 * CYCLE_MS);
    expect(cluster.node('a').maxInFlight).to.equal(1);
    expect(pipeline.pod('web')).to.equal(undefined);
    expect(pipeline.pod('other')).not.to.equal(undefined);
  });
});
