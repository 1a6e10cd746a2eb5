import { shorten } from '../http/shorten.ts';
import type { Sample } from '../query.ts';
import { decimalNumber } from '../sample.ts';
import { MAX_ROWS, type SqlRows } from './sql-connection.ts';

/** By this name the column of the number is known; else it is the last one. */
const VALUE_COLUMN = 'value';

/**
 * Makes samples of rows: one number each, and what is in the other columns as labels; NULL is no label.
 *
 * @throws an Error that says why they are no result: none at all, too many, NULL, or no finite number
 */
export function samplesOfRows({ columns, rows }: SqlRows): readonly Sample[] {
  if (rows.length === 0) throw new Error('the query has no result');
  if (rows.length > MAX_ROWS) throw new Error(`the query gives more than ${MAX_ROWS} rows`);
  const named = columns.findIndex((name) => name.toLowerCase() === VALUE_COLUMN);
  const valueIndex = named === -1 ? columns.length - 1 : named;
  return rows.map((row) => {
    const labels = columns.flatMap((name, index) => {
      const value = row[index];
      return index === valueIndex || value === null || value === undefined ? [] : [[name, value] as const];
    });
    return {
      value: numberOf(row[valueIndex], columns[valueIndex] ?? ''),
      labels: Object.fromEntries(labels),
    };
  });
}

function numberOf(text: string | null | undefined, column: string): number {
  if (text === null || text === undefined)
    throw new Error(`the query gives NULL in column ${JSON.stringify(column)}, which is no result`);
  const value = decimalNumber(text);
  if (value !== undefined) return value;
  throw new Error(
    `the query gives ${JSON.stringify(shorten(text))} in column ${JSON.stringify(column)}, which is no number`,
  );
}
