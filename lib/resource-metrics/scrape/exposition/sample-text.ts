/** The value of a sample where {@link ShortDecimal} does not read it; `undefined` where it is none. */
export function sampleValue(text: string): number | undefined {
  return NUMBER.test(text) ? Number(text) : SPECIAL_VALUES.get(text);
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

const SPECIAL_VALUES: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Inf', Number.POSITIVE_INFINITY],
  ['+Inf', Number.POSITIVE_INFINITY],
  ['-Inf', Number.NEGATIVE_INFINITY],
]);

/**
 * The value of a label without its escapes. Written out, since replacing by a function takes five times as long, and a response may
 * be nothing but escapes.
 */
export function withoutEscapes(value: string): string {
  let unescaped = '';
  let from = 0;
  for (let at = value.indexOf('\\'); at !== -1; at = value.indexOf('\\', at + 2)) {
    const character = UNESCAPED.get(value.charCodeAt(at + 1));
    if (character === undefined) continue;
    unescaped += value.slice(from, at) + character;
    from = at + 2;
  }
  return unescaped + value.slice(from);
}

const UNESCAPED: ReadonlyMap<number, string> = new Map([
  [0x6e, '\n'],
  [0x22, '"'],
  [0x5c, '\\'],
]);
