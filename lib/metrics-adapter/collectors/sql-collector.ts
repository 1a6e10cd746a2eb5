import { z } from 'zod';
import type { Query } from '#lib/sources/query.ts';
import { type MetricCollector, readSettings, text } from './metric-collector.ts';

/** A database that the administrator configures. */
interface NamedDatabase {
  /** Whether HPAs of a namespace may query it. */
  allows(namespace: string): boolean;
  query(text: string): Query;
  /** Calls a listener whenever the allowed namespaces change. */
  onChange(listener: () => void): void;
}

export interface SqlCollectorOptions {
  /** Databases by their configured names. */
  readonly sources: ReadonlyMap<string, NamedDatabase>;
}

const settings = z.object({
  source: text.describe('Name of a database that `--sql-source` defines.'),
  query: text.describe(
    'SQL query whose result is one number, or rows of labels and a number. All rows are served.',
  ),
});

/** SQL queries of configured databases: one number, or rows of labels and a number. */
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
      // A source that this namespace may not query is not listed: even its name is withheld.
      const configured = [...allowed.keys()].join(', ') || 'none';
      throw new Error(
        `${place('source')} must be one of --sql-source (${configured}), not ${JSON.stringify(values.source.slice(0, SHOWN_LENGTH))}`,
      );
    },
  };
}

const SHOWN_LENGTH = 50;
