/**
 * Whether one word is another but for its case, or for one letter too many, too few or wrong; in a long word, for two.
 *
 * A word much longer or shorter is told apart at once, which bounds the work by the length of `wanted`.
 */
export function isMisspelling(word: string, wanted: string): boolean {
  const maxEdits = wanted.length > 5 ? 2 : 1;
  if (word === wanted || Math.abs(word.length - wanted.length) > maxEdits) return false;
  // Edits between what was read of `word` and each beginning of `wanted`.
  let edits = Array.from({ length: wanted.length + 1 }, (_, index) => index);
  for (const [read, letter] of [...word.toLowerCase()].entries()) {
    const next = [read + 1];
    for (let index = 0; index < wanted.length; index++) {
      const replaced = (edits[index] ?? 0) + (wanted[index] === letter ? 0 : 1);
      next.push(Math.min(replaced, (edits[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    edits = next;
  }
  return (edits.at(-1) ?? 0) <= maxEdits;
}
