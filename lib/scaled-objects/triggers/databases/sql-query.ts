import type { Query } from '#lib/sources/query.ts';
import { decimalNumber } from '#lib/sources/sample.ts';
import type { AskedDatabase } from '#lib/sources/sql/sql-databases.ts';
import { MAX_CONNECTIONS } from '#lib/sources/sql/sql-pool.ts';
import { describeError } from '#lib/telemetry/logger.ts';

const SHOWN_LENGTH = 200;

/** The first column of the first row that a statement reads, as a number. */
export function sqlQuery(
  database: AskedDatabase,
  { text, error }: { readonly text: string; readonly error: string },
): Query {
  return {
    key: JSON.stringify(['sql-trigger', database.key, text]),
    description: `${text.slice(0, SHOWN_LENGTH)} of a database`,
    source: `database ${database.key}`,
    mostAtOnce: MAX_CONNECTIONS,
    async ask(signal) {
      try {
        const { rows } = await database.rows(text, signal);
        return [{ value: numberIn(rows[0]?.[0]), labels: {} }];
      } catch (cause) {
        signal.throwIfAborted();
        throw new Error(`${error}: ${describeError(cause)}`, { cause });
      }
    },
  };
}

function numberIn(value: string | null | undefined): number {
  if (value === undefined) throw new Error('no rows in result set');
  const number = value === null ? undefined : decimalNumber(value);
  if (number === undefined) throw new Error('the value is no number');
  return number;
}
