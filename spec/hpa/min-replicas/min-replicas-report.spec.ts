import { expect } from 'chai';
import { Registry } from 'prom-client';
import { MinReplicasReport } from '#lib/hpa/min-replicas/min-replicas-report.ts';

describe('MinReplicasReport', () => {
  const registry = new Registry();
  const log = new MinReplicasReport(registry);

  for (const [what, remove] of [
    ['whose week says nothing any more', () => log.judged('shop', 'web', undefined)],
    ['of an earlier term', () => log.clear()],
    ['of the current term', () => {}],
  ] as const) {
    it(`removes the series of a deleted HPA ${what}`, async () => {
      log.judged('shop', 'web', 3);
      log.adjusted('shop', 'web');
      expect(await registry.metrics()).to.match(/adjustments_total\{namespace="shop",name="web"\} 1/);
      remove();
      log.remove('shop/web');
      expect(await registry.metrics()).to.not.include('name="web"');
    });
  }

  it('counts changes, and exports the recommendation', async () => {
    const registry = new Registry();
    const log = new MinReplicasReport(registry);
    for (const [name, replicas] of [
      ['web', 3],
      ['till', 4],
      ['web', 5],
    ] as const)
      log.judged('shop', name, replicas);
    for (let times = 0; times < 2; times++) log.adjusted('shop', 'web');
    log.judged('shop', 'till', undefined);
    log.report('shop/web', 'recommended');
    expect(log.find('shop/web')).to.equal('recommended');
    expect(await registry.metrics()).to.equal(
      `# HELP autoscaler_hpa_min_replicas_adjustments_total How often minReplicas of an HPA was changed to the recommended value
# TYPE autoscaler_hpa_min_replicas_adjustments_total counter
autoscaler_hpa_min_replicas_adjustments_total{namespace="shop",name="web"} 2

# HELP autoscaler_hpa_recommended_min_replicas minReplicas that the load of the last week requires; absent until there is enough data
# TYPE autoscaler_hpa_recommended_min_replicas gauge
autoscaler_hpa_recommended_min_replicas{namespace="shop",name="web"} 5
`,
    );
    log.clear();
    expect([log.find('shop/web'), (await registry.metrics()).includes('name="web"')]).to.deep.equal([
      ...[undefined, false],
    ]);
  });
});
