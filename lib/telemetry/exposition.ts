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

const SAMPLES_PER_SLICE = 1000;

/** Series computed from rows, which are evaluated once per scrape. */
export function exposition<Row>(
  families: readonly SeriesFamily<Row>[],
  rows: () => readonly Row[],
): SlicedSeries {
  return {
    *slices() {
      const all = rows();
      for (const { name, help, type, samples } of families) {
        let slice = `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
        let written = 0;
        for (const row of all) {
          for (const { labels, value } of samples(row)) {
            slice += `${name}{${formatLabels(labels)}} ${value}\n`;
            if (++written % SAMPLES_PER_SLICE !== 0) continue;
            yield slice;
            slice = '';
          }
        }
        yield slice;
      }
    },
  };
}

function formatLabels(labels: SeriesSample['labels']): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabelValue(String(value))}"`)
    .join(',');
}
