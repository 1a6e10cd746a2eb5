import { expect } from 'chai';
import { CYCLE_MS, container, pod, SETTLED_MS, setup } from './small-cluster.ts';

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

  it('is omitted from its pod while it waits for a restart after a crash', async () => {
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

  it('is added to its pod if it is an ephemeral container', async () => {
    const { clock, containersOf, web } = setup();
    await clock.advance(SETTLED_MS);
    web.join(container('debugger'));
    await clock.advance(CYCLE_MS);
    expect(containersOf('web')).to.deep.equal(['app', 'debugger']);
  });

  it('counts with the others if it is a sidecar, which started before the init containers', async () => {
    const { clock, containersOf, web } = setup();
    const sidecar = web.join(container('sidecar'));
    const init = web.join({ ...container('init'), unknown: ['cpu', 'memory'] });
    await clock.advance(5000);
    web.join(container('main'));
    await clock.advance(2 * CYCLE_MS);
    expect(containersOf('web')).to.deep.equal(['app', 'sidecar', 'main']);
    expect(sidecar.isRunning(clock.monotonicMs()) && init.isRunning(clock.monotonicMs())).to.equal(true);
  });

  it("is measured between cAdvisor's samples", async () => {
    const { clock, pipeline } = setup({ a: { runtime: 'cadvisor' } });
    await clock.advance(SETTLED_MS);
    for (let cycle = 0; cycle < 20; cycle++) {
      await clock.advance(CYCLE_MS);
      const [usage] = pipeline.pod('web')?.containers ?? [];
      expect(usage?.cpuNanocores).to.be.closeTo(60_000_000, 3_000_000);
    }
  });

  it('stays unchanged while its kubelet repeats a sample, for at most five minutes', async () => {
    const { clock, cluster, pipeline } = setup();
    await clock.advance(SETTLED_MS);
    const [node, pod] = [pipeline.node('a'), pipeline.pod('web')];
    expect(pod).not.to.equal(undefined);
    cluster.node('a').isStuck = true;
    for (let cycle = 1; cycle < 5; cycle++) {
      await clock.advance(CYCLE_MS);
      expect([pipeline.node('a'), pipeline.pod('web')]).to.deep.equal([node, pod]);
    }
    await clock.advance(CYCLE_MS);
    expect([pipeline.node('a'), pipeline.pod('web')]).to.deep.equal([undefined, undefined]);
    cluster.node('a').isStuck = false;
    await clock.advance(CYCLE_MS);
    expect(pipeline.node('a')).not.to.equal(undefined);
    expect(pipeline.pod('web')?.containers[0]?.cpuNanocores).to.equal(60_000_000);
  });
});
