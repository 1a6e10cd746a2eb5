import { expect } from 'chai';
import { readScaledHpa } from '#lib/metrics-adapter/collected-metrics.ts';
import { sqlCollector } from '#lib/metrics-adapter/collectors/sql-collector.ts';
import { planCollectors } from '#lib/metrics-adapter/plans/plan-collectors.ts';
import { externalMetric, readHpaObject } from '#spec/support/scaled-hpas.ts';

const source = (name: string, namespaces = ['default']) => ({
  allows: (namespace: string) => namespaces.includes(namespace),
  query: (text: string) => ({ key: `${name}: ${text}`, description: text, run: async () => [] }),
  onChange: () => {},
});
const COLLECTOR = sqlCollector({
  sources: new Map([
    ['jobs', source('jobs', ['default', 'both'])],
    ['billing', source('billing', ['finance', 'both'])],
  ]),
});

describe('sqlCollector', () => {
  it('queries the named source', () => {
    expect(plan({ source: 'jobs', query: 'SELECT count(*) FROM jobs' })).to.deep.equal([
      'jobs: SELECT count(*) FROM jobs',
    ]);
    expect(plan({ query: 'SELECT 1' }, { type: 'sql', source: 'jobs' })).to.deep.equal(['jobs: SELECT 1']);
  });

  it('refuses a source of another namespace like a missing one, without listing it', () => {
    for (const name of ['billing', 'nothing'])
      expect(plan({ source: name, query: 'SELECT 1' })).to.deep.equal([
        `Annotation metric-config.external.depth.sql/source must be one of --sql-source (jobs), not "${name}"`,
      ]);
    expect(plan({ source: 'billing', query: 'SELECT 1' }, undefined, 'finance')).to.deep.equal([
      'billing: SELECT 1',
    ]);
    expect(plan({ source: 'lost', query: 'SELECT 1' }, undefined, 'both')).to.deep.equal([
      'Annotation metric-config.external.depth.sql/source must be one of --sql-source (jobs, billing), not "lost"',
    ]);
    expect(plan({ source: 'jobs', query: 'SELECT 1' }, undefined, 'other')).to.deep.equal([
      'Annotation metric-config.external.depth.sql/source must be one of --sql-source (none), not "jobs"',
    ]);
  });
});

/** The keys of the queries, and the metrics that cannot be collected. */
function plan(
  settings: Readonly<Record<string, string>>,
  matchLabels?: Readonly<Record<string, string>>,
  namespace = 'default',
) {
  const annotations = Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [`metric-config.external.depth.sql/${name}`, value]),
  );
  const metrics = [externalMetric('depth', matchLabels)];
  const hpa = readScaledHpa(readHpaObject({ namespace, annotations, metrics }));
  if (!hpa) throw new Error('it asks for a metric');
  const { planned, problems } = planCollectors(hpa, [COLLECTOR]);
  return [...planned.map(({ query }) => query.key), ...problems.map(({ error }) => error.message)];
}
