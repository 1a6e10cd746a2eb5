import { shorten } from '../query.ts';
import { measuredAt, parseDecimal, type Sample } from '../sample.ts';

/** Columns of InfluxDB itself, which are not labels. */
const OWN_COLUMNS = new Set(['result', 'table', '_start', '_stop', '_time']);
const NUMBERS = new Set(['long', 'unsignedLong', 'double']);
const MAX_SAMPLES = 1000;
const MAX_COLUMNS = 500;

interface Table {
  readonly columns: readonly string[];
  readonly types: readonly string[];
}

/**
 * Reads the annotated CSV of a Flux query, one number per row.
 *
 * @param valueColumns the first existing one of these columns has the number
 * @throws an Error if there is no result
 */
export function readFluxTables(text: string, valueColumns: readonly string[]): readonly Sample[] {
  const samples: Sample[] = [];
  let types: readonly string[] = [];
  let table: Table | undefined;
  for (const row of parseCsv(text)) {
    if (row.length === 0) [types, table] = [[], undefined];
    else if (row[0] === '#datatype') [types, table] = [row, undefined];
    else if (row[0]?.startsWith('#'))
      table = undefined; // an annotation that was not requested
    else if (!table) table = readHeader(row, types);
    else samples.push(readSample(row, table, valueColumns));
    if (samples.length > MAX_SAMPLES) throw new Error(`the query returned more than ${MAX_SAMPLES} rows`);
  }
  if (samples.length === 0) throw new Error('the query returned no result');
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
    throw new Error(`the query failed: ${String(field('error'))}`);
  const valueColumn = valueColumns.find((name) => columns.includes(name));
  if (valueColumn === undefined) throw new Error(`the result has no column ${valueColumns.join(' or ')}`);
  const text = field(valueColumn) ?? '';
  const type = types[columns.indexOf(valueColumn)];
  const value = parseDecimal(text);
  if (value === undefined || (type !== undefined && !NUMBERS.has(type)))
    throw new Error(`column ${valueColumn} has ${JSON.stringify(shorten(text))}, not a number`);
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

/** Per row; a longer row is rejected before it is read completely. */
const MAX_FIELDS = 1_000;

/**
 * Parses comma-separated values (RFC 4180) row by row; an empty line is a row without fields.
 *
 * @throws if a quoted field is not terminated, or a row has too many fields
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

const END = /[,\r\n]/g;

interface Field {
  readonly field: string;
  /** Index after the field. */
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
    if (quote === -1) throw new Error('a quoted field is not terminated');
    parts.push(text.slice(from, quote));
    if (text[quote + 1] !== '"') return { field: parts.join('"'), end: quote + 1 };
    from = quote + 2;
  }
}
