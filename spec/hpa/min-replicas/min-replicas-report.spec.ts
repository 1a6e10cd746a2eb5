import { expect } from 'chai';
import { Registry } from 'prom-client';
import { AutoMinLog } from '#lib/hpa/min-replicas/min-replicas-report.ts';

describe('AutoMinLog', () => {
  const registry = new Registry();
  const log = new AutoMinLog(registry);

  for (const [what, forget] of [
    ['whose week says nothing any more', () => log.judged('shop', 'web', undefined)],
    ['that was told of in an earlier term', () => log.clear()],
    ['that was told of just now', () => {}],
  ] as const) {
    it(`leaves no series of an HPA that is gone, ${what}`, async () => {
      log.judged('shop', 'web', 3);
      log.adjusted('shop', 'web');
      expect(await registry.metrics()).to.match(/adjustments_total\{namespace="shop",name="web"\} 1/);
      forget();
      log.forget('shop/web');
      expect(await registry.metrics()).to.not.include('name="web"');
    });
  }

  it('tells in series how often a minimum was changed, and which one the week asks for', async () => {
    const registry = new Registry();
    const log = new AutoMinLog(registry);
    for (const [name, replicas] of [
      ['web', 3],
      ['till', 4],
      ['web', 5],
    ] as const)
      log.judged('shop', name, replicas);
    for (let times = 0; times < 2; times++) log.adjusted('shop', 'web');
    log.judged('shop', 'till', undefined);
    log.tell('shop/web', 'recommended');
    expect(log.find('shop/web')).to.equal('recommended');
    expect(await registry.metrics()).to.equal(
      `# HELP autoscaler_hpa_min_replicas_adjustments_total How often the minReplicas of an HPA were changed to what its week asks for
# TYPE autoscaler_hpa_min_replicas_adjustments_total counter
autoscaler_hpa_min_replicas_adjustments_total{namespace="shop",name="web"} 2

# HELP autoscaler_hpa_recommended_min_replicas The minReplicas that would have carried the week; absent while too little is known
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
