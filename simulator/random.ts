/**
 * A pseudo-random number in [0, 1) that is the same for the same seed and words, so that a scenario has the same pods
 * and loads every time.
 */
export function seededFraction(seed: number, ...words: readonly (string | number)[]): number {
  let hash = 0x811c9dc5 ^ seed;
  for (const word of words) {
    const text = String(word);
    for (let index = 0; index < text.length; index++)
      hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    hash = Math.imul(hash ^ 0x1f, 0x01000193);
  }
  // FNV alone maps similar words to similar numbers; two rounds of multiply and shift spread them.
  hash = Math.imul(hash ^ (hash >>> 16), 0x21f0aaad);
  hash = Math.imul(hash ^ (hash >>> 15), 0x735a2d97);
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32;
}

/** A whole number between two, inclusive. */
export function seededBetween(
  range: { readonly from: number; readonly to: number },
  seed: number,
  ...words: readonly (string | number)[]
): number {
  return range.from + Math.floor(seededFraction(seed, ...words) * (range.to - range.from + 1));
}

// Kubernetes omits vowels and characters that look like them, so that names contain no words.
const NAME_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** A suffix as a ReplicaSet appends to its pods. */
export function seededSuffix(length: number, seed: number, ...words: readonly (string | number)[]): string {
  let suffix = '';
  for (let index = 0; index < length; index++) {
    suffix += NAME_ALPHABET.charAt(Math.floor(seededFraction(seed, ...words, index) * NAME_ALPHABET.length));
  }
  return suffix;
}

const SUFFIX_LENGTH = 5;

/** Generates a name from `generateName`, as the API server does. */
export function generatedName(prefix: string): string {
  const letter = () => NAME_ALPHABET[Math.floor(Math.random() * NAME_ALPHABET.length)] ?? 'x';
  return prefix + Array.from({ length: SUFFIX_LENGTH }, letter).join('');
}
