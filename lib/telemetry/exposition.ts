import { escapeLabelValue, type SlicedSeries } from './sliced-registry.ts';

/** One sample: its labels in their order, and its value. */
export interface SeriesSample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** Series of one name. */
export interface SeriesFamily<Row> {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter';
  /** What a row adds; nothing where it has none of them. */
  readonly samples: (row: Row) => Iterable<SeriesSample>;
}

const SAMPLES_A_SLICE = 1000;

/** Series made of rows that are worked out once for each time that they are read. */
export function exposition<Row>(
  families: readonly SeriesFamily<Row>[],
  rows: () => readonly Row[],
): SlicedSeries {
  return {
    *slices() {
      const all = rows();
      for (const { name, help, type, samples } of families) {
        let slice = `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
        let held = 0;
        for (const row of all) {
          for (const { labels, value } of samples(row)) {
            slice += `${name}{${formatLabels(labels)}} ${value}\n`;
            if (++held % SAMPLES_A_SLICE !== 0) continue;
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
