/** A part of lib/ that reads text from untrusted sources. */
export interface ForeignReader {
  readonly name: string;
  /** Names of its files; every file of lib/ that exports a reader is listed here, or exempt with a reason. */
  readonly files: readonly string[];
  /** The maximum length of its text in characters, and what rejects longer texts. */
  readonly bound: { readonly length: number; readonly by: string };
  /** The most expensive texts, by length. */
  readonly shapes: Readonly<Record<string, Shape>>;
  /** Number of parts into which the longest text is divided for comparison; 64 unless each read has a high fixed cost. */
  readonly parts?: number;
  /** May throw: a rejection is a valid result, whose cost is measured. */
  read(text: string): unknown;
}

/** Builds a text of approximately this length. */
export type Shape = (length: number) => string;

/** A repeated piece with a prefix and a suffix. */
export function repeated(piece: string, { before = '', behind = '' } = {}): Shape {
  return (length) => {
    const times = Math.max(1, Math.floor((length - before.length - behind.length) / piece.length));
    return `${before}${piece.repeat(times)}${behind}`;
  };
}

/** Nested brackets. */
export function nested(
  opening: string,
  closing: string,
  { before = '', within = '', behind = '' } = {},
): Shape {
  return (length) => {
    const depth = Math.max(1, Math.floor(length / (opening.length + closing.length)));
    return `${before}${opening.repeat(depth)}${within}${closing.repeat(depth)}${behind}`;
  };
}

/** Many distinct pieces. */
export function distinct(piece: (index: number) => string, { before = '', behind = '' } = {}): Shape {
  return (length) => {
    const pieces: string[] = [];
    for (let [index, left] = [0, length - before.length - behind.length]; left > 0; index++) {
      const next = piece(index);
      pieces.push(next);
      left -= next.length;
    }
    return `${before}${pieces.join('')}${behind}`;
  };
}
