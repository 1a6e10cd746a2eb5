import { expect } from 'chai';
import { Registry } from 'prom-client';
import { AutoMinLog } from '#lib/hpa/auto-min/auto-min-log.ts';

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
});
