import { type JsonBytes, JsonPiece } from './json-bytes.ts';

/** What fills a hole: JSON, a finite number, or what appends its JSON itself. */
export type HoleFiller = JsonPiece | string | number | (() => void);

/**
 * JSON, indented as a kubelet does, some values of which are told only when it is filled. Most of a long response is the
 * same every time: it is written once, and filling copies its pieces.
 */
export class JsonTemplate<Hole extends string> {
  /** What comes before each hole; the last one comes after all. */
  readonly #pieces: readonly JsonPiece[];
  readonly #holes: readonly Hole[];

  /**
   * @param shape JSON in which the text `<hole>` stands for a value
   * @param depth in how many objects and lists it will be nested
   */
  constructor(shape: unknown, depth: number) {
    const text = JSON.stringify(shape, null, 1).replaceAll('\n', newLine(depth));
    const parts = text.split(/"<(\w+)>"/);
    const pieces = parts.filter((_part, index) => index % 2 === 0);
    this.#pieces = pieces.map((piece) => new JsonPiece(piece));
    this.#holes = parts.filter((_part, index) => index % 2 === 1) as Hole[];
  }

  /** @param fillers those without a hole go nowhere */
  append(bytes: JsonBytes, fillers: Readonly<Record<Hole, HoleFiller>>): void {
    bytes.appendPiece(this.#pieces[0] as JsonPiece);
    for (let index = 0; index < this.#holes.length; index++) {
      const filler: HoleFiller = fillers[this.#holes[index] as Hole];
      if (typeof filler === 'number') bytes.appendNumber(filler);
      else if (typeof filler === 'string') bytes.appendText(filler);
      else if (typeof filler === 'function') filler();
      else bytes.appendPiece(filler);
      bytes.appendPiece(this.#pieces[index + 1] as JsonPiece);
    }
  }
}

/**
 * Appends a list of what appends itself.
 *
 * @param depth in how many objects and lists the items are nested
 */
export function appendList<Item>(
  bytes: JsonBytes,
  items: readonly Item[],
  { depth, append }: { readonly depth: number; readonly append: (item: Item) => void },
): void {
  let before = `[${newLine(depth)}`;
  for (const item of items) {
    bytes.appendText(before);
    append(item);
    before = `,${newLine(depth)}`;
  }
  bytes.appendText(items.length === 0 ? '[]' : `${newLine(depth - 1)}]`);
}

function newLine(depth: number): string {
  return `\n${' '.repeat(depth)}`;
}
