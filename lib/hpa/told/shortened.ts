/** A text of others as far as it is shown: of a longer one how it begins, and how much was left out. */
export function shortened(text: string, mostCharacters: number): string {
  if (text.length <= mostCharacters) return text;
  const shown = text.slice(0, mostCharacters).toWellFormed();
  return `${shown}… and ${text.length - mostCharacters} more characters`;
}
