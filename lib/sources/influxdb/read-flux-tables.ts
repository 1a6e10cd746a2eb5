import { shorten } from '../query.ts';
import { measuredAt, parseDecimal, type Sample } from '../sample.ts';

/** Columns by which InfluxDB tells tables and times apart: no labels of a value. */
const OWN_COLUMNS = new Set(['result', 'table', '_start', '_stop', '_time']);
const NUMBERS = new Set(['long', 'unsignedLong', 'double']);
const MAX_SAMPLES = 1000;
const MAX_COLUMNS = 500;

interface Table {
  readonly columns: readonly string[];
  readonly types: readonly string[];
}

/**
 * The numbers in annotated CSV, as InfluxDB 2 responds to Flux, one for each row.
 *
 * @param valueColumns the names of the column that holds the number, the first of them that a table has
 * @throws an Error that says why there is no result
 */
export function readFluxTables(text: string, valueColumns: readonly string[]): readonly Sample[] {
  const samples: Sample[] = [];
  let types: readonly string[] = [];
  let table: Table | undefined;
  for (const row of parseCsv(text)) {
    if (row.length === 0) [types, table] = [[], undefined];
    else if (row[0] === '#datatype') [types, table] = [row, undefined];
    else if (row[0]?.startsWith('#'))
      table = undefined; // an annotation that was not asked for
    else if (!table) table = readHeader(row, types);
    else samples.push(readSample(row, table, valueColumns));
    if (samples.length > MAX_SAMPLES) throw new Error(`the query gives more than ${MAX_SAMPLES} rows`);
  }
  if (samples.length === 0) throw new Error('the query has no result');
  return samples;
}

function readHeader(columns: readonly string[], types: readonly string[]): Table {
  if (columns.length > MAX_COLUMNS) throw new Error(`a table has more than ${MAX_COLUMNS} columns`);
  return { columns, types };
}

function readSample(
  row: readonly string[],
  { columns, types }: Table,
  valueColumns: readonly string[],
): Sample {
  const field = (name: string) => row[columns.indexOf(name)];
  if (columns.includes('error') && columns.includes('reference'))
    throw new Error(`the query fails: ${String(field('error'))}`);
  const valueColumn = valueColumns.find((name) => columns.includes(name));
  if (valueColumn === undefined) throw new Error(`the result has no column ${valueColumns.join(' or ')}`);
  const text = field(valueColumn) ?? '';
  const type = types[columns.indexOf(valueColumn)];
  const value = parseDecimal(text);
  if (value === undefined || (type !== undefined && !NUMBERS.has(type)))
    throw new Error(`column ${valueColumn} holds ${JSON.stringify(shorten(text))}, which is no number`);
  return {
    value,
    labels: Object.fromEntries(
      columns
        .map((name, index) => [name, row[index] ?? ''] as const)
        .filter(([name], index) => types[index] === 'string' && name !== '' && !OWN_COLUMNS.has(name)),
    ),
    ...measuredAt(Date.parse(field('_time') ?? '')),
  };
}

/** Of one row; what is refused for having more need not be read to its end. */
const MAX_FIELDS = 1_000;

/**
 * The rows of a text of comma-separated values as RFC 4180 has them, one after another; a line without a character
 * is a row without fields.
 *
 * @throws when a quoted field does not end, or a row has too many
 */
export function* parseCsv(text: string): Generator<readonly string[]> {
  let at = 0;
  let row: string[] = [];
  while (at < text.length) {
    const isQuoted = text[at] === '"';
    const { field, end } = isQuoted ? readQuotedField(text, at) : readPlainField(text, at);
    const next = text[end];
    const isBlank = row.length === 0 && !isQuoted && field === '' && next !== ',';
    if (!isBlank) row.push(field);
    if (row.length > MAX_FIELDS) throw new Error(`a row has more than ${MAX_FIELDS} fields`);
    if (next === ',') {
      at = end + 1;
      if (at < text.length) continue;
      row.push('');
    } else {
      at = text.startsWith('\r\n', end) ? end + 2 : end + 1;
    }
    yield row;
    row = [];
  }
}

/** Ends before a comma, or the end of a line. */
const END = /[,\r\n]/g;

interface Field {
  readonly field: string;
  /** Behind it. */
  readonly end: number;
}

function readPlainField(text: string, start: number): Field {
  END.lastIndex = start;
  const end = END.exec(text)?.index ?? text.length;
  return { field: text.slice(start, end), end };
}

function readQuotedField(text: string, start: number): Field {
  const parts: string[] = [];
  for (let from = start + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote === -1) throw new Error('a quoted field does not end');
    parts.push(text.slice(from, quote));
    if (text[quote + 1] !== '"') return { field: parts.join('"'), end: quote + 1 };
    from = quote + 2;
  }
}
