import { FOREIGN_READERS } from '#spec/reliability/foreign-text/all-readers.ts';
import { costOf } from '#spec/reliability/foreign-text/growth.ts';
import { table } from './table.ts';

/** Cost of the most expensive input of one kind, at its size limit. */
export interface ForeignTextResult {
  readonly reader: string;
  readonly shape: string;
  readonly length: number;
  readonly costMs: number;
}

/** Maximum time for which untrusted input may block the event loop. Whole kubelet responses are an exception. */
const TARGET_MS = 50;

/** Runs every parser of untrusted input on its most expensive inputs, and returns the maximum for each parser. */
export async function measureForeignText(
  readers: typeof FOREIGN_READERS = FOREIGN_READERS,
): Promise<readonly ForeignTextResult[]> {
  const results: ForeignTextResult[] = [];
  for (const { name, bound, shapes, read } of readers) {
    const costs: ForeignTextResult[] = [];
    for (const [shape, make] of Object.entries(shapes)) {
      const text = make(bound.length);
      const costMs = Math.min(await costOf(() => read(text)), await costOf(() => read(text)));
      costs.push({ reader: name, shape, length: text.length, costMs });
    }
    const [worst] = costs.sort((a, b) => b.costMs - a.costMs);
    if (worst) results.push(worst);
  }
  return results.sort((a, b) => b.costMs - a.costMs);
}

/** Formats results as Markdown, the most expensive first. */
export function reportForeignText(results: readonly ForeignTextResult[]): string {
  const rows = results.map(({ reader, shape, length, costMs }) => [
    reader,
    shape,
    `${(length / 1024).toFixed(length < 10_240 ? 1 : 0)} KiB`,
    `${costMs.toFixed(costMs < 10 ? 2 : 0)} ms`,
    costMs <= TARGET_MS ? '' : `more than ${TARGET_MS} ms`,
  ]);
  return [
    '## Foreign text at its bound',
    '',
    ...table([['reader', 'worst text', 'length', 'CPU', ''], ...rows]),
  ].join('\n');
}
