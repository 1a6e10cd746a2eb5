// No vowels, and nothing that looks like something else, so that no words come about.
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;

/** A name that begins with a prefix, as the API server makes them of `generateName`. */
export function generatedName(prefix: string): string {
  const letter = () => LETTERS[Math.floor(Math.random() * LETTERS.length)] ?? 'x';
  return prefix + Array.from({ length: SUFFIX_LENGTH }, letter).join('');
}
