import { z } from 'zod';
import type { Query } from '#lib/sources/query.ts';
import { nameOfMetric } from '../objects/scaled-hpa.ts';
import { type MetricCollector, settingsOf } from './metric-collector.ts';
import { text } from './setting-kinds.ts';

/** What the SQL collector works with. */
export interface SqlCollectorOptions {
  /** Databases by the names that the administrator gave them. */
  readonly sources: ReadonlyMap<string, { query(text: string): Query }>;
}

const settings = z.object({
  source: text.describe('Name of a database that the administrator gives by `--sql-source`.'),
  query: text.describe('The query: one number, or rows of labels and a number, all of which are served.'),
});

/** SQL queries of databases that the administrator names: one number, or rows of labels and a number. */
export function sqlCollector({ sources }: SqlCollectorOptions): MetricCollector {
  return {
    name: 'sql',
    legacyMetrics: [],
    types: ['External'],
    settings,
    servesAll: true,
    queryOf(request) {
      const settings = settingsOf(request);
      const [source, query] = [settings.get('source'), settings.get('query')];
      const subject = `metric ${nameOfMetric(request.metric)}`;
      if (!source) throw new Error(`source is missing of ${subject}`);
      const named = sources.get(source.value);
      if (!named) {
        const names = [...sources.keys()].map((name) => JSON.stringify(name)).join(', ') || 'none';
        throw new Error(`${source.place} must be a source that --sql-source names (${names})`);
      }
      if (!query) throw new Error(`query is missing of ${subject}`);
      if (query.value.trim() === '') throw new Error(`${query.place} must be a query, not empty`);
      return named.query(query.value);
    },
  };
}
