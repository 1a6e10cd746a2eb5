import { expect } from 'chai';
import { Registry } from 'prom-client';
import type { Outcome } from '#lib/hpa/decision.ts';
import { HpaSeries } from '#lib/hpa/loop/hpa-series.ts';
import { DecisionLog } from '#lib/hpa/told/decision-log.ts';
import { followedWeb } from '../auto-min/built-decision.ts';

describe('HpaSeries', () => {
  it('counts changes of direction of one term alone, for another leader may have scaled in between', async () => {
    const registry = new Registry();
    const series = new HpaSeries(registry, new DecisionLog());
    const scaled = (currentReplicas: number, desiredReplicas: number) => {
      const outcome = { explanation: { metrics: [], currentReplicas }, desiredReplicas };
      series.decided(followedWeb({ minReplicas: 1 }), outcome as unknown as Outcome, {
        isDryRun: false,
        tookMs: new Map(),
      });
    };
    scaled(1, 2);
    scaled(2, 1);
    expect(await registry.metrics()).to.match(/direction_changes_total\{.*name="web"\} 1/);
    series.clear();
    scaled(1, 2);
    expect(await registry.metrics()).to.not.include('name="web"');
  });
});
