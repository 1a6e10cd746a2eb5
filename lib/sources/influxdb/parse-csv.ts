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
    const { field, end } = isQuoted ? quotedField(text, at) : plainField(text, at);
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

function plainField(text: string, start: number): Field {
  END.lastIndex = start;
  const end = END.exec(text)?.index ?? text.length;
  return { field: text.slice(start, end), end };
}

function quotedField(text: string, start: number): Field {
  const parts: string[] = [];
  for (let from = start + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote === -1) throw new Error('a quoted field does not end');
    parts.push(text.slice(from, quote));
    if (text[quote + 1] !== '"') return { field: parts.join('"'), end: quote + 1 };
    from = quote + 2;
  }
}
