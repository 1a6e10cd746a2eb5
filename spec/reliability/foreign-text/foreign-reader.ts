/** Something of lib/ that reads what strangers write. */
export interface ForeignReader {
  readonly name: string;
  /** Names of its files; every file of lib/ that exports a reader is named here, or exempt with a reason. */
  readonly files: readonly string[];
  /** The longest text that it is given, in characters, and what refuses longer ones. */
  readonly bound: { readonly length: number; readonly by: string };
  /** The worst texts, each by its length. */
  readonly shapes: Readonly<Record<string, Shape>>;
  /** Into how many its longest text is divided to compare the cost; 64 unless each read costs much beside the text. */
  readonly parts?: number;
  /** Errors are proper responses here: what is measured is what they cost. */
  read(text: string): unknown;
}

/** Makes a text of about this length. */
export type Shape = (length: number) => string;

/** A piece again and again, with something before and behind it. */
export function repeated(piece: string, { before = '', behind = '' } = {}): Shape {
  return (length) => {
    const times = Math.max(1, Math.floor((length - before.length - behind.length) / piece.length));
    return `${before}${piece.repeat(times)}${behind}`;
  };
}

/** Brackets within brackets. */
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

/** Many pieces, no two of which are alike. */
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
