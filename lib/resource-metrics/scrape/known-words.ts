/** Slots for each word, at least: the fewer words share one, the fewer comparisons. */
const SLOTS_EACH = 8;

/** Finds words that are written in bytes among those that are known, without making strings of them. */
export class KnownWords {
  /** As many as a power of two says; words of one slot are linked. */
  readonly #slots: readonly (KnownWord | undefined)[];
  readonly #mask: number;

  /** @param words of ASCII letters, none of them empty */
  constructor(words: readonly string[]) {
    const count = 2 ** Math.ceil(Math.log2(SLOTS_EACH * words.length));
    const slots: (KnownWord | undefined)[] = new Array(count).fill(undefined);
    this.#mask = count - 1;
    for (const text of words) {
      const bytes = Buffer.from(text);
      const slot = slotOf(bytes, 0, bytes.length) & this.#mask;
      slots[slot] = { text, bytes, next: slots[slot] };
    }
    this.#slots = slots;
  }

  /** The word from `start` up to `end`; the empty string where it is not known. */
  find(bytes: Uint8Array, start: number, end: number): string {
    if (start === end) return '';
    let word = this.#slots[slotOf(bytes, start, end) & this.#mask];
    while (word !== undefined && !isAt(word.bytes, bytes, start, end)) word = word.next;
    return word === undefined ? '' : word.text;
  }

  /** The word itself; the empty string where it is not known. */
  findText(text: string): string {
    const bytes = Buffer.from(text);
    return this.find(bytes, 0, bytes.length);
  }
}

interface KnownWord {
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly next: KnownWord | undefined;
}

/** By length and both ends, which tell nearly all words apart. */
function slotOf(bytes: Uint8Array, start: number, end: number): number {
  return (end - start) * 31 + (bytes[start] as number) * 7 + (bytes[end - 1] as number);
}

function isAt(word: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start !== word.length) return false;
  for (let index = 0; index < word.length; index++) if (bytes[start + index] !== word[index]) return false;
  return true;
}
