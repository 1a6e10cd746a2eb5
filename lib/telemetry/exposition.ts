import { escapeLabelValue, type SlicedSeries } from './sliced-registry.ts';

export interface SeriesSample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** All series of one name. */
export interface SeriesFamily<Row> {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter';
  /** Samples of one row; may be empty. */
  readonly samples: (row: Row) => Iterable<SeriesSample>;
}

/** Limits the series of rows that tenants create. */
interface TenantLimit<Row> {
  readonly tenantOf: (row: Row) => string;
  /** Text of all series of one tenant; further ones are omitted. */
  readonly maxBytes: number;
  /** Name of a gauge that is 1 for each tenant with omitted series, by the label `namespace`. */
  readonly omittedName: string;
}

/** Series computed from rows, which are evaluated once per scrape. A slice is a line, or empty for a row without one. */
export function exposition<Row>(
  families: readonly SeriesFamily<Row>[],
  rows: () => Iterable<Row>,
  limit?: TenantLimit<Row>,
): SlicedSeries {
  return {
    *slices() {
      const all: Row[] = [];
      for (const row of rows()) {
        all.push(row);
        yield '';
      }
      const texts = new TenantTexts(limit?.maxBytes ?? Number.POSITIVE_INFINITY);
      for (const family of families) {
        yield formatHead(family);
        for (const row of all) yield* texts.linesOf(limit?.tenantOf(row) ?? '', family, row);
      }
      if (limit) yield* formatOmitted(limit.omittedName, texts.omitted);
    },
  };
}

class TenantTexts {
  readonly #maxBytes: number;
  readonly #bytes = new Map<string, number>();
  readonly omitted = new Set<string>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  *linesOf<Row>(tenant: string, { name, samples }: SeriesFamily<Row>, row: Row): Iterable<string> {
    yield '';
    if (this.omitted.has(tenant)) return;
    for (const sample of samples(row)) {
      const line = formatSample(name, sample);
      const bytes = (this.#bytes.get(tenant) ?? 0) + Buffer.byteLength(line);
      if (bytes > this.#maxBytes) {
        this.omitted.add(tenant);
        return;
      }
      this.#bytes.set(tenant, bytes);
      yield line;
    }
  }
}

function* formatOmitted(name: string, tenants: Iterable<string>): Iterable<string> {
  const help = 'Namespaces with so many series that the others are omitted (1)';
  yield formatHead({ name, help, type: 'gauge' });
  for (const namespace of tenants) yield formatSample(name, { labels: { namespace }, value: 1 });
}

function formatHead({ name, help, type }: Pick<SeriesFamily<never>, 'name' | 'help' | 'type'>): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function formatSample(name: string, { labels, value }: SeriesSample): string {
  const formatted = Object.entries(labels)
    .map(([label, text]) => `${label}="${escapeLabelValue(String(text))}"`)
    .join(',');
  return `${name}{${formatted}} ${value}\n`;
}
