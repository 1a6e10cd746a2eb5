/** A power of two; 64 Ki pointers. */
const SLOTS = 65_536;

/** Longer ones are rare, and not worth comparing. */
const LONGEST = 256;

/**
 * Gives one and the same string for the same bytes, nearly always: what kubelets name, they name again in every cycle,
 * and each new string would be garbage.
 *
 * It remembers the latest string of each hash, so what it takes is bounded and nobody has to forget anything.
 */
export class SharedStrings {
  readonly #latest: (string | undefined)[] = new Array(SLOTS);

  /** The UTF-8 text from `start` up to `end`; what is not UTF-8 becomes U+FFFD. */
  read(bytes: Buffer, start: number, end: number): string {
    if (end - start > LONGEST) return bytes.toString('utf8', start, end);
    let hash = 0x811c9dc5; // FNV-1a
    for (let index = start; index < end; index++)
      hash = Math.imul(hash ^ (bytes[index] as number), 0x01000193);
    const slot = (hash ^ (hash >>> 16)) & (SLOTS - 1);
    const held = this.#latest[slot];
    if (held !== undefined && isWritten(held, bytes, start, end)) return held;
    const text = bytes.toString('utf8', start, end);
    this.#latest[slot] = text;
    return text;
  }
}

/** Whether an ASCII text is what the bytes say; of any other, no. */
function isWritten(text: string, bytes: Buffer, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code !== bytes[start + index] || code > 0x7f) return false;
  }
  return true;
}
