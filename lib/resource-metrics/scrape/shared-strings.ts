/** A power of two; 64 Ki pointers. */
const SLOTS = 65_536;

/** Longer ones are rare, and not worth comparing. */
const LONGEST = 256;

/** The ends of names and UIDs tell them apart; what has the same end only takes the place of the other. */
const HASHED_BYTES = 12;

/**
 * Gives one and the same string for the same bytes, nearly always: what kubelets name, they name again in every cycle,
 * and each new string would be garbage.
 *
 * It remembers the latest string of each hash, so what it takes is bounded and nobody has to forget anything.
 */
export class SharedStrings {
  readonly #latest: (string | undefined)[] = new Array(SLOTS);

  /** The ASCII text from `start` up to `end`, where it is remembered. */
  find(bytes: Uint8Array, start: number, end: number): string | undefined {
    const held = this.#latest[slotOf(bytes, start, end)];
    return held !== undefined && isWritten(held, bytes, start, end) ? held : undefined;
  }

  /** Remembers the UTF-8 text from `start` up to `end`; what is not UTF-8 becomes U+FFFD. */
  keep(bytes: Buffer, start: number, end: number): string {
    const text = bytes.toString('utf8', start, end);
    if (end - start <= LONGEST) this.#latest[slotOf(bytes, start, end)] = text;
    return text;
  }
}

/** FNV-1a over the length and the last bytes. */
function slotOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5 ^ (end - start);
  for (let index = Math.max(start, end - HASHED_BYTES); index < end; index++)
    hash = Math.imul(hash ^ (bytes[index] as number), 0x01000193);
  return (hash ^ (hash >>> 16)) & (SLOTS - 1);
}

/** Whether an ASCII text is what the bytes say; of any other, no. */
function isWritten(text: string, bytes: Uint8Array, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code !== bytes[start + index] || code > 0x7f) return false;
  }
  return true;
}
