import { expect } from 'chai';
import { planCollectors } from '#lib/metrics-adapter/collectors/plan-collectors.ts';
import { sqlCollector } from '#lib/metrics-adapter/collectors/sql-collector.ts';
import { readScaledHpa } from '#lib/metrics-adapter/objects/read-scaled-hpa.ts';
import { externalMetric, hpaObject } from '#spec/support/scaled-hpas.ts';

const source = (name: string) => ({
  query: (text: string) => ({ key: `${name}: ${text}`, description: text, ask: async () => [] }),
});
const COLLECTOR = sqlCollector({ sources: new Map([['jobs', source('jobs')]]) });

describe('sqlCollector', () => {
  it('asks the source that is named', () => {
    expect(plan({ source: 'jobs', query: 'SELECT count(*) FROM jobs' })).to.deep.equal([
      'jobs: SELECT count(*) FROM jobs',
    ]);
    expect(plan({ query: 'SELECT 1' }, { type: 'sql', source: 'jobs' })).to.deep.equal(['jobs: SELECT 1']);
  });

  it('refuses a setting that is missing or means nothing, by its place', () => {
    expect(plan({ query: 'SELECT 1' })).to.deep.equal(['source is missing of metric External/depth']);
    expect(plan({ source: 'jobs' })).to.deep.equal(['query is missing of metric External/depth']);
    expect(plan({ source: 'other', query: 'SELECT 1' })).to.deep.equal([
      'Annotation metric-config.external.depth.sql/source must be a source that --sql-source names ("jobs")',
    ]);
    expect(plan({ source: 'jobs', query: ' ' })).to.deep.equal([
      'Annotation metric-config.external.depth.sql/query must be a query, not empty',
    ]);
  });
});

/** The keys of the queries, and what cannot be collected. */
function plan(settings: Readonly<Record<string, string>>, matchLabels?: Readonly<Record<string, string>>) {
  const annotations = Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [`metric-config.external.depth.sql/${name}`, value]),
  );
  const hpa = readScaledHpa(hpaObject({ annotations, metrics: [externalMetric('depth', matchLabels)] }));
  if (!hpa) throw new Error('it asks for a metric');
  const { planned, problems } = planCollectors(hpa, [COLLECTOR]);
  return [...planned.map(({ query }) => query.key), ...problems.map(({ error }) => error.message)];
}
