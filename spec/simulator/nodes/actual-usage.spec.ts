import { expect } from 'chai';
import { startCluster } from '#simulator/simulated-cluster.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('Truth', () => {
  const containers = [
    { name: 'burn', cpuMillicores: 60, memoryBytes: 24 * 2 ** 20 },
    { name: 'side', cpuMillicores: 5, memoryBytes: 2 ** 20 },
  ];
  const scenario = { nodes: 1, podsPerNode: 0, pods: [{ name: 'burner', node: 'node-1', containers }] };
  const path = { namespace: 'default', pod: 'burner', container: 'burn' };

  it('returns the usage of containers, pods and nodes between two moments', async () => {
    const clock = new ManualClock();
    await using cluster = await startCluster(scenario, { clock });
    const fromMs = clock.nowMs();
    await clock.advance(10_000);
    const window = { fromMs, toMs: clock.nowMs() };
    const { truth } = cluster;
    expect(truth.containerUsage(path, window)).to.deep.equal({
      cpuNanocores: 60_000_000,
      memoryBytes: 24 * 2 ** 20,
    });
    expect(truth.podUsage(path, window)).to.deep.equal({
      cpuNanocores: 65_000_000,
      memoryBytes: 25 * 2 ** 20,
    });
    expect(truth.nodeUsage('node-1', window).cpuNanocores).to.be.within(115_000_000, 215_000_000);
  });

  it('covers restarts and changes of load', async () => {
    const clock = new ManualClock();
    await using cluster = await startCluster(scenario, { clock });
    const fromMs = clock.nowMs();
    await clock.advance(5_000);
    cluster.restartContainer(path);
    cluster.setLoad(path, { cpuMillicores: 120, memoryBytes: 4096 });
    await clock.advance(5_000);
    const usage = cluster.truth.containerUsage(path, { fromMs, toMs: clock.nowMs() });
    expect(usage).to.deep.equal({ cpuNanocores: 90_000_000, memoryBytes: 4096 });
  });

  it('does not mind that a wall clock is wrong, or is stepped', async () => {
    const clock = new ManualClock();
    const nodeOverrides = { 'node-1': { clockSkewMs: 60_000 } };
    await using cluster = await startCluster({ ...scenario, nodeOverrides }, { clock });
    clock.stepWall(3_600_000);
    const fromMs = clock.nowMs();
    await clock.advance(10_000);
    const usage = cluster.truth.containerUsage(path, { fromMs, toMs: clock.nowMs() });
    expect(usage.cpuNanocores).to.equal(60_000_000);
  });

  it('names the missing object', async () => {
    await using cluster = await startCluster(scenario, { clock: new ManualClock() });
    const window = { fromMs: 0, toMs: 1 };
    expect(() => cluster.truth.containerUsage({ ...path, container: 'x' }, window)).to.throw(/container "x"/);
    expect(() => cluster.truth.podUsage({ ...path, pod: 'x' }, window)).to.throw(/pod "default\/x"/);
    expect(() => cluster.truth.nodeUsage('x', window)).to.throw(/node "x"/);
  });
});
