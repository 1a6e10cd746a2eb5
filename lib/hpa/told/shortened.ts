import { ownCopy } from '#lib/cache/interner.ts';

/** A text of others as far as it is shown: of a longer one how it begins, and how much was left out. */
export function shortened(text: string, mostCharacters: number): string {
  if (text.length <= mostCharacters) return text;
  const shown = ownCopy(text.slice(0, mostCharacters).toWellFormed()); // who keeps it is not to keep all of the text
  return `${shown}… and ${text.length - mostCharacters} more characters`;
}
