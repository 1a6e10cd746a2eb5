import { expect } from 'chai';
import fc from 'fast-check';
import { steadyLoad } from '#simulator/kubelet/running-container.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { DEFAULTS, Pipeline } from './pipeline.ts';
import { SocketlessCluster } from './socketless-cluster.ts';

describe('the usage from /stats/summary and from /metrics/resource', () => {
  it('is the same, except for the whole seconds of the summary', async () => {
    const load = fc.record({
      millicores: fc.integer({ min: 1, max: 8000 }),
      pages: fc.integer({ min: 1, max: 2 ** 20 }),
    });
    const scenario = fc.record({
      loads: fc.array(load, { minLength: 1, maxLength: 4 }),
      runtime: fc.constantFrom('cri' as const, 'cadvisor' as const),
      skewMs: fc.integer({ min: -86_400_000, max: 86_400_000 }),
      watchedMs: fc.integer({ min: 75_000, max: 300_000 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ loads, runtime, skewMs, watchedMs }) => {
        const clock = new ManualClock();
        const cluster = new SocketlessCluster(clock);
        cluster.addNode({ name: 'a', runtime, skewMs });
        const containers = loads.map(({ millicores, pages }, index) => ({
          name: `c${index}`,
          load: steadyLoad(millicores, 4096 * pages),
        }));
        cluster.addPod({ name: 'web', node: 'a', containers, startedAtMs: -3_600_000 });
        await using summary = new Pipeline(cluster, { ...DEFAULTS, endpoint: 'summary' });
        await using resource = new Pipeline(cluster, { ...DEFAULTS, endpoint: 'resource' });
        await clock.advance(watchedMs);
        const [bySummary, byResource] = [summary.pod('web')?.containers, resource.pod('web')?.containers];
        if (!bySummary || !byResource) throw new Error('both must be known by now');
        expect(bySummary).to.have.length(loads.length);
        for (const [index, usage] of bySummary.entries()) {
          const other = byResource[index];
          expect(other).to.deep.include({ name: usage.name, memoryBytes: usage.memoryBytes });
          const mayDiffer = usage.cpuNanocores * (1000 / usage.windowMs) * 1.1 + 1e6;
          expect(usage.cpuNanocores).to.be.closeTo(other?.cpuNanocores ?? Number.NaN, mayDiffer);
        }
        const nodes = [summary.node('a'), resource.node('a')].map((usage) => usage?.cpuNanocores ?? 0);
        const [mean = 0] = nodes;
        expect(mean).to.be.closeTo(nodes[1] ?? 0, mean * 0.1);
      }),
      { numRuns: 25 },
    );
  });
});
