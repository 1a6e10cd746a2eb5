import { z } from 'zod';
import type { Query } from '#lib/sources/query.ts';
import { type MetricCollector, readSettings, text } from './metric-collector.ts';

/** A database that the administrator names. */
interface NamedDatabase {
  /** Whether HPAs of a namespace may ask it. */
  allows(namespace: string): boolean;
  query(text: string): Query;
  /** Calls a listener whenever others may ask it than before. */
  onChange(listener: () => void): void;
}

/** What the SQL collector works with. */
export interface SqlCollectorOptions {
  /** Databases by the names that the administrator gave them. */
  readonly sources: ReadonlyMap<string, NamedDatabase>;
}

const settings = z.object({
  source: text.describe('Name of a database of `--sql-source`.'),
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
    onChange(listener) {
      for (const source of sources.values()) source.onChange(listener);
    },
    queryOf(request) {
      const { values, place } = readSettings(settings, request);
      const { namespace } = request.hpa;
      const allowed = new Map([...sources].filter(([, source]) => source.allows(namespace)));
      const source = allowed.get(values.source);
      if (source) return source.query(values.query);
      // A source that this namespace may not ask is none here: not even its name is told.
      const known = [...allowed.keys()].join(', ') || 'none';
      throw new Error(
        `${place('source')} must be one of --sql-source (${known}), not ${JSON.stringify(values.source.slice(0, SHOWN_LENGTH))}`,
      );
    },
  };
}

const SHOWN_LENGTH = 50;
