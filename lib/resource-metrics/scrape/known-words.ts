/** Slots for each word: the fewer words share one, the fewer comparisons. */
const SLOTS_EACH = 4;

/** Finds words that are written in bytes among those that are known, without making strings of them. */
export class KnownWords {
  readonly #slots: readonly (readonly KnownWord[])[];

  /** @param words of ASCII letters, none of them empty */
  constructor(words: readonly string[]) {
    const slots: KnownWord[][] = Array.from({ length: SLOTS_EACH * words.length }, () => []);
    for (const text of words) {
      const bytes = Buffer.from(text);
      slots[slotOf(bytes, 0, bytes.length, slots.length)]?.push({ text, bytes });
    }
    this.#slots = slots;
  }

  /** The word from `start` up to `end`; the empty string where it is not known. */
  find(bytes: Uint8Array, start: number, end: number): string {
    const candidates = this.#slots[slotOf(bytes, start, end, this.#slots.length)] as readonly KnownWord[];
    for (const word of candidates) if (isAt(word.bytes, bytes, start, end)) return word.text;
    return '';
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
}

/** By length and both ends, which tell nearly all words apart. */
function slotOf(bytes: Uint8Array, start: number, end: number, slots: number): number {
  return start < end
    ? ((end - start) * 31 + (bytes[start] as number) * 7 + (bytes[end - 1] as number)) % slots
    : 0;
}

function isAt(word: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start !== word.length) return false;
  for (let index = 0; index < word.length; index++) if (bytes[start + index] !== word[index]) return false;
  return true;
}
