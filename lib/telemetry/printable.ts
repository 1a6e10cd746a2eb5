// Control characters, bidirectional and invisible formatting, line and paragraph separators.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/**
 * Makes foreign text safe for a terminal and a log: one line, with escapes (`\n`, `\u001b`) for characters that move
 * the cursor, change colors, reorder or hide text. Within JSON, the escapes mean the same characters.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => SHORT_ESCAPES.get(character) ?? escaped(character));
}

/** Like {@link printable}, but retains line feeds. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
