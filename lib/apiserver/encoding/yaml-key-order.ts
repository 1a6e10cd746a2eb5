const LETTER = /^\p{L}/u;
const DIGIT = /^\p{Nd}/u;

/**
 * The order in which go-yaml writes the keys of a mapping: numbers inside them count as numbers, and at the
 * first difference what is no letter comes before a letter.
 */
export function compareYamlKeys(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  const shorter = Math.min(left.length, right.length);
  for (let at = 0; at < shorter; at++) {
    const [l = '', r = ''] = [left[at], right[at]];
    if (l !== r) return compareFrom(left, right, at);
  }
  return left.length - right.length;
}

function compareFrom(left: readonly string[], right: readonly string[], at: number): number {
  const [l = '', r = ''] = [left[at], right[at]];
  const [isLeftLetter, isRightLetter] = [LETTER.test(l), LETTER.test(r)];
  if (isLeftLetter !== isRightLetter) return isRightLetter ? -1 : 1;
  if (isLeftLetter) return codeOf(l) - codeOf(r);
  // A zero inside a number that began earlier is no leading zero.
  const isInsideNumber = (l === '0' || r === '0') && continuesNumber(left, at);
  const [leftDigits, rightDigits] = [digitsFrom(left, at), digitsFrom(right, at)];
  const prefix = isInsideNumber ? '1' : '';
  const difference = BigInt(`${prefix}${leftDigits}` || '0') - BigInt(`${prefix}${rightDigits}` || '0');
  if (difference !== 0n) return difference < 0n ? -1 : 1;
  return leftDigits.length - rightDigits.length || codeOf(l) - codeOf(r);
}

function continuesNumber(characters: readonly string[], at: number): boolean {
  for (let before = at - 1; before >= 0; before--) {
    const character = characters[before] ?? '';
    if (!DIGIT.test(character)) return false;
    if (character !== '0') return true;
  }
  return false;
}

function digitsFrom(characters: readonly string[], at: number): string {
  let end = at;
  while (/^[0-9]$/.test(characters[end] ?? '')) end++;
  return characters.slice(at, end).join('');
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}
