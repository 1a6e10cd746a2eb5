// Controls, marks that reorder or hide what stands beside them, and whatever else ends a line.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/**
 * A text of others as a terminal may be given it: on one line, with an escape (`\n`, `\u001b`) in place of every
 * character that would move the cursor, colour, reorder or hide. Within JSON these escapes mean the characters.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => SHORT_ESCAPES.get(character) ?? escaped(character));
}

/** The same of a text whose line feeds are ours, as those of indented JSON are. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
