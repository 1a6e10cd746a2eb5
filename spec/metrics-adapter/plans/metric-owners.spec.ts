import { expect } from 'chai';
import type { ScaledHpa } from '#lib/metrics-adapter/collected-metrics.ts';
import type { CollectedMetric } from '#lib/metrics-adapter/plans/collected-hpa.ts';
import { claimMetrics, contestMetrics, MetricClaims } from '#lib/metrics-adapter/plans/metric-owners.ts';

const claim = (queryKey: string, createdAt: string, subject = 's') => ({ subject, queryKey, createdAt });

describe('MetricClaims', () => {
  it('prefers the HPA that was created first, whatever the order of claims', () => {
    const claims = new MetricClaims();
    claims.put('new', [claim('b', '2026-01-02T00:00:00Z')]);
    expect(claims.conflictingOwner('new', 's')).to.equal(undefined);
    claims.put('old', [claim('a', '2026-01-01T00:00:00Z')]);
    expect(claims.conflictingOwner('new', 's')).to.equal('old');
    expect(claims.conflictingOwner('old', 's')).to.equal(undefined);
    claims.put('old', []);
    expect(claims.conflictingOwner('new', 's')).to.equal(undefined);
  });

  it('has nothing against equal queries and other subjects', () => {
    const claims = new MetricClaims();
    claims.put('a', [claim('q', '1'), claim('x', '1', 'other')]);
    claims.put('b', [claim('q', '2')]);
    expect(claims.conflictingOwner('b', 's')).to.equal(undefined);
    expect(claims.conflictingOwner('b', 'other')).to.equal(undefined);
  });

  it('prefers the lower name where two were created in one second', () => {
    const claims = new MetricClaims();
    claims.put('b', [claim('1', 't')]);
    claims.put('a', [claim('2', 't')]);
    expect(claims.conflictingOwner('b', 's')).to.equal('a');
  });

  it('returns the owners that win or lose a claim', () => {
    const claims = new MetricClaims();
    expect([...claims.put('new', [claim('b', '3')])]).to.deep.equal([]);
    expect([...claims.put('equal', [claim('a', '2')])]).to.deep.equal(['new']);
    expect([...claims.put('old', [claim('a', '1')])]).to.deep.equal(['new']);
    expect([...claims.put('old', [claim('a', '1')])]).to.deep.equal([]);
    expect([...claims.put('old', [claim('b', '1')])].sort()).to.deep.equal(['equal', 'new']);
    expect([...claims.put('old', [])].sort()).to.deep.equal(['equal', 'new']);
    expect([...claims.put('equal', [])]).to.deep.equal(['new']);
    expect(claims.conflictingOwner('new', 's')).to.equal(undefined);
  });
});

const SERVICE = { group: '', version: 'v1', kind: 'Service', plural: 'services', namespaced: true };

describe('contestMetrics', () => {
  /** The owner among two HPAs, with these targets, that collect the same query of one Service. */
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

  it('separates values that are divided by the replicas of different targets', () => {
    expect(winners(true, ['web', 'worker'])).to.deep.equal([true, false]);
    expect(winners(true, ['web', 'web'])).to.deep.equal([true, true]);
    expect(winners(false, ['web', 'worker'])).to.deep.equal([true, true]);
  });
});
