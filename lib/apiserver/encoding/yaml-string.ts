import { getOwn } from '#lib/kubernetes/get-own.ts';

/** Where a string stands in the document. */
export interface YamlPlace {
  /** The column at which it begins. */
  readonly column: number;
  /** That of the mapping or sequence it is in: what is folded goes on two columns deeper. */
  readonly indentation: number;
  /** Keys stay on one line. */
  readonly isKey: boolean;
}

/** Behind this column a line is folded at its next space. */
const BEST_WIDTH = 80;

/** Writes a string in the style that go-yaml chooses: plain if that stays a string, else quoted or literal. */
export function writeYamlString(text: string, place: YamlPlace): string {
  const traits = traitsOf(text);
  if (text.includes('\n')) {
    return traits.isBlockAllowed && !place.isKey ? literal(text, place) : doubleQuoted(text, place);
  }
  if (readsAsSomethingElse(text)) return doubleQuoted(text, place);
  if (traits.isPlainAllowed) return folded(text, place, text.length);
  if (traits.isSingleQuotedAllowed) {
    return `'${folded(text.replaceAll("'", "''"), { ...place, column: place.column + 1 }, text.length)}'`;
  }
  return doubleQuoted(text, place);
}

interface Traits {
  readonly isPlainAllowed: boolean;
  readonly isSingleQuotedAllowed: boolean;
  readonly isBlockAllowed: boolean;
}

const INDICATOR_FIRST = /^(?:[#,[\]{}&*!|>'"%@`]|[-?:](?:\s|$)|---|\.\.\.)/;
const INDICATOR_INSIDE = /:(?:\s|$)|\s#/;
const UNPRINTABLE = /[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/u;

function traitsOf(text: string): Traits {
  const isSpecial = UNPRINTABLE.test(text) || /[ ][\n\x85\u2028\u2029]/.test(text);
  const isSpacedOutside = /^[ \n]|[ \n]$/.test(text);
  const hasBreak = /[\n\x85\u2028\u2029]/.test(text);
  const isIndicator = INDICATOR_FIRST.test(text) || INDICATOR_INSIDE.test(text);
  return {
    isPlainAllowed: !(isSpecial || isSpacedOutside || hasBreak || isIndicator),
    isSingleQuotedAllowed: !(isSpecial || /\n /.test(text)),
    isBlockAllowed: !(isSpecial || / $/.test(text)),
  };
}

const OTHER_WORDS =
  /^(?:|~|null|Null|NULL|[yY]|yes|Yes|YES|true|True|TRUE|on|On|ON|[nN]|no|No|NO|false|False|FALSE|off|Off|OFF|\.nan|\.NaN|\.NAN|[-+]?\.(?:inf|Inf|INF))$/;
const INTEGER = /^[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const TIMESTAMP =
  /^\d{4}-\d{1,2}-\d{1,2}(?:$|[Tt]\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?(?:Z|[-+]\d{2}:\d{2})$| \d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?$)/;
const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;

/** Whether a YAML reader would take the bare text for a number, a time, a truth value or nothing. */
function readsAsSomethingElse(text: string): boolean {
  if (OTHER_WORDS.test(text)) return true;
  if (!/^[-+.0-9]/.test(text)) return false;
  const digits = text.replaceAll('_', '');
  return INTEGER.test(digits) || FLOAT.test(digits) || TIMESTAMP.test(text) || BASE_60.test(text);
}

/** Breaks lines behind the best width, at single spaces inside the text. */
function folded(text: string, { column, indentation, isKey }: YamlPlace, lastBreakable: number): string {
  if (isKey || column + text.length <= BEST_WIDTH) return text;
  const margin = `\n${' '.repeat(indentation + 2)}`;
  let at = column;
  let written = '';
  const characters = [...text];
  characters.forEach((character, index) => {
    const isBreakable =
      character === ' ' &&
      at > BEST_WIDTH &&
      index > 0 &&
      index < Math.min(lastBreakable, characters.length) - 1 &&
      characters[index - 1] !== ' ' &&
      characters[index + 1] !== ' ';
    written += isBreakable ? margin : character;
    at = isBreakable ? indentation + 2 : at + 1;
  });
  return written;
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '\0': '\\0',
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '\x1b': '\\e',
  '"': '\\"',
  '\\': '\\\\',
  '\x85': '\\N',
  '\xa0': '\\_',
  '\u2028': '\\L',
  '\u2029': '\\P',
};

function doubleQuoted(text: string, { column, indentation, isKey }: YamlPlace): string {
  const margin = ' '.repeat(indentation + 2);
  const characters = [...text];
  let at = column + 1;
  let written = '"';
  let isAfterSpace = false;
  characters.forEach((character, index) => {
    const isInside = index > 0 && index < characters.length - 1;
    if (character === ' ' && !isKey && !isAfterSpace && at > BEST_WIDTH && isInside) {
      written += `\n${margin}${characters[index + 1] === ' ' ? '\\' : ''}`;
      at = margin.length;
    } else {
      const piece = escapeCharacter(character);
      written += piece;
      at += piece.length;
    }
    isAfterSpace = character === ' ';
  });
  return `${written}"`;
}

function escapeCharacter(character: string): string {
  if (character !== '"' && character !== '\\' && !/[\n\x85\u2028\u2029\ufeff]/.test(character)) {
    if (!UNPRINTABLE.test(character)) return character;
  }
  const short = getOwn(SHORT_ESCAPES, character);
  if (short !== undefined) return short;
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  if (code.length <= 2) return `\\x${code.padStart(2, '0')}`;
  return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`;
}

function literal(text: string, { indentation }: YamlPlace): string {
  const margin = ' '.repeat(indentation + 2);
  const indentationHint = /^[ \n]/.test(text) ? '2' : '';
  const chomping = !text.endsWith('\n') ? '-' : /(?:^|\n)\n$/.test(text) ? '+' : '';
  const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
  const body = lines.map((line) => (line === '' ? '' : margin + line)).join('\n');
  return `|${indentationHint}${chomping}\n${body}`;
}
