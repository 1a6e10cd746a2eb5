import { expect } from 'chai';
import type { ScaledHpa } from '#lib/metrics-adapter/annotations/collected-metrics.ts';
import type { CollectedMetric } from '#lib/metrics-adapter/plans/collected-hpa.ts';
import { claimMetrics, contestMetrics } from '#lib/metrics-adapter/plans/contested-metrics.ts';
import { MetricClaims } from '#lib/metrics-adapter/plans/metric-claims.ts';

const SERVICE = { group: '', version: 'v1', kind: 'Service', plural: 'services', namespaced: true };

describe('contestMetrics', () => {
  /** Which of two HPAs, of these targets, have the same query of one Service collected. */
  const winners = (perReplica: boolean, targets: readonly string[]) => {
    const claims = new MetricClaims();
    const describedObject = { apiVersion: 'v1', kind: 'Service', name: 'api' };
    const metric = { type: 'Object', name: 'rate', matchLabels: {}, describedObject };
    const metrics = [{ metric, perReplica, resource: SERVICE, query: { key: 'q' } }] as unknown as [
      CollectedMetric,
    ];
    const hpas = targets.map((name, index) => ({
      ...{ namespace: 'shop', name: `hpa-${index}`, createdAt: `2026-01-0${index + 1}T00:00:00Z` },
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
    })) as unknown as ScaledHpa[];
    for (const hpa of hpas) claimMetrics(claims, hpa, metrics);
    return hpas.map((hpa) => contestMetrics(claims, hpa, metrics).won.length === 1);
  };

  it('lets none get a value that is divided by the replicas of the target of another', () => {
    expect(winners(true, ['web', 'worker'])).to.deep.equal([true, false]);
    expect(winners(true, ['web', 'web'])).to.deep.equal([true, true]);
    expect(winners(false, ['web', 'worker'])).to.deep.equal([true, true]);
  });
});
