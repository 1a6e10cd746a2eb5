import { getOwn } from '#lib/kubernetes/get-own.ts';
import { functions } from './jsonpath-functions.ts';

/** Operators by precedence, the lowest first; of operators with a common prefix, the longer one first. */
const LEVELS: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['==', '!=', '<=', '>=', '=~', '<', '>'],
  ['+', '-', '|', '^'],
  ['*', '/', '%', '<<', '>>', '&^', '&'],
];
/** Operators of other levels that start with an operator. */
const LONGER_OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '|': ['||'],
  '&': ['&&'],
  '*': ['**'],
  '<': ['<<'],
  '>': ['>>'],
};
const NUMBER = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[A-Za-z_][A-Za-z0-9_]*/y;

/**
 * Parses a standalone path in Goessner's JSONPath.
 *
 * @throws an Error with the violated rule and its position
 */
export function parseJsonPath(text: string): Path {
  const scanner = new Scanner(text.trim());
  if (!scanner.tryTake('$')) scanner.fail('"$"');
  const path = parsePath(scanner, '$', { parseExpression: parseNestedExpression, isStandalone: true });
  if (!scanner.isAtEnd) scanner.fail('".", "[" or the end');
  return path;
}

/**
 * Parses an expression of numbers, strings and paths.
 *
 * @throws an Error with the violated rule and its position
 */
export function parseExpression(text: string): Expression {
  const scanner = new Scanner(text);
  const read = parseNestedExpression(scanner);
  scanner.skipSpace();
  if (!scanner.isAtEnd) scanner.fail('an operator or the end');
  return read;
}

function parseNestedExpression(scanner: Scanner): Expression {
  return scanner.within(() => parseLevel(scanner, 0));
}

function parseLevel(scanner: Scanner, index: number): Expression {
  const operators = LEVELS[index];
  if (!operators) return parsePower(scanner);
  let left = parseLevel(scanner, index + 1);
  for (;;) {
    scanner.skipSpace();
    const operator = operators.find((one) => isNext(scanner, one));
    if (operator === undefined) return left;
    scanner.expect(operator);
    left = { kind: 'binary', operator, left, right: parseLevel(scanner, index + 1) };
  }
}

function isNext(scanner: Scanner, operator: string): boolean {
  const isLonger = (getOwn(LONGER_OPERATORS, operator) ?? []).some((longer) => scanner.startsWith(longer));
  return !isLonger && scanner.startsWith(operator);
}

/** `a ** b ** c` is `a ** (b ** c)`. */
function parsePower(scanner: Scanner): Expression {
  const left = parseUnary(scanner);
  scanner.skipSpace();
  if (!scanner.tryTake('**')) return left;
  return { kind: 'binary', operator: '**', left, right: scanner.within(() => parsePower(scanner)) };
}

function parseUnary(scanner: Scanner): Expression {
  scanner.skipSpace();
  for (const operator of ['-', '+', '!'] as const)
    if (scanner.tryTake(operator))
      return { kind: 'unary', operator, operand: scanner.within(() => parseUnary(scanner)) };
  return parsePrimary(scanner);
}

function parsePrimary(scanner: Scanner): Expression {
  if (scanner.tryTake('(')) {
    const inner = parseNestedExpression(scanner);
    scanner.skipSpace();
    scanner.expect(')');
    return inner;
  }
  for (const from of ['$', '@'] as const)
    if (scanner.tryTake(from)) {
      const path = parsePath(scanner, from, { parseExpression: parseNestedExpression, isStandalone: false });
      return { kind: 'path', path };
    }
  if (scanner.next === "'" || scanner.next === '"') return { kind: 'literal', value: scanner.takeQuoted() };
  const number = scanner.takeMatch(NUMBER);
  if (number !== undefined) return { kind: 'literal', value: checkFinite(Number(number), scanner) };
  const word = scanner.takeMatch(WORD);
  return word === undefined ? scanner.fail('a value') : parseNamed(scanner, word);
}

/** Parses a function with its argument, or a constant. */
function parseNamed(scanner: Scanner, word: string): Expression {
  const name = word.toLowerCase();
  scanner.skipSpace();
  if (scanner.tryTake('(')) {
    if (!functions.has(name)) throw new Error(`must not call ${JSON.stringify(word)}: unknown function`);
    const argument = parseNestedExpression(scanner);
    scanner.skipSpace();
    scanner.expect(')');
    return { kind: 'call', name, argument };
  }
  const value = constants.get(name);
  if (value === undefined)
    throw new Error(`must not use ${JSON.stringify(word)}: neither a path nor a constant`);
  return { kind: 'literal', value };
}

function checkFinite(value: number, scanner: Scanner): number {
  return Number.isFinite(value) ? value : scanner.fail('a smaller number before');
}

const PHI = (1 + Math.sqrt(5)) / 2;

const constants: ReadonlyMap<string, number | boolean | null> = new Map<string, number | boolean | null>([
  ['e', Math.E],
  ['pi', Math.PI],
  ['phi', PHI],
  ['sqrt2', Math.SQRT2],
  ['sqrte', Math.sqrt(Math.E)],
  ['sqrtpi', Math.sqrt(Math.PI)],
  ['sqrtphi', Math.sqrt(PHI)],
  ['ln2', Math.LN2],
  ['log2e', Math.LOG2E],
  ['ln10', Math.LN10],
  ['log10e', Math.LOG10E],
  ['true', true],
  ['false', false],
  ['null', null],
]);

interface PathContext {
  /** Parses an expression in brackets. */
  readonly parseExpression: (scanner: Scanner) => Expression;
  /** A standalone path allows more characters in names than a path among operators. */
  readonly isStandalone: boolean;
}

const isStandaloneNameCharacter = (character: string) => !'.[]\'"'.includes(character);
const isNameCharacter = (character: string) => /[\p{L}\p{N}_]/u.test(character);
const INTEGER = /-?\d{1,15}/y;

/** Parses a path in Goessner's JSONPath after its `$` or `@`. */
function parsePath(scanner: Scanner, from: Path['from'], context: PathContext): Path {
  const steps: Step[] = [];
  for (;;) {
    if (context.isStandalone) scanner.skipSpace();
    if (scanner.tryTake('..')) {
      const isBracket = scanner.next === '[';
      if (isBracket) scanner.expect('[');
      steps.push({
        isDeep: true,
        selectors: isBracket ? parseBracket(scanner, context) : [parseDot(scanner, context)],
      });
    } else if (scanner.tryTake('.')) steps.push({ isDeep: false, selectors: [parseDot(scanner, context)] });
    else if (scanner.tryTake('[')) steps.push({ isDeep: false, selectors: parseBracket(scanner, context) });
    else return { from, steps };
  }
}

/** Parses `*` or a name after a dot. */
function parseDot(scanner: Scanner, { isStandalone }: PathContext): Selector {
  if (scanner.tryTake('*')) return { kind: 'all' };
  const name = scanner.takeWhile(isStandalone ? isStandaloneNameCharacter : isNameCharacter);
  return name === '' ? scanner.fail('a name or "*"') : { kind: 'name', name };
}

/** Parses the selectors in brackets after the opening one. */
function parseBracket(scanner: Scanner, context: PathContext): readonly Selector[] {
  return scanner.within(() => {
    const selectors: Selector[] = [];
    for (;;) {
      scanner.skipSpace();
      selectors.push(parseSelector(scanner, context));
      scanner.skipSpace();
      if (scanner.tryTake(']')) return selectors;
      if (!scanner.tryTake(',')) scanner.fail('"," or "]"');
    }
  });
}

function parseSelector(scanner: Scanner, { parseExpression }: PathContext): Selector {
  if (scanner.tryTake('*')) return { kind: 'all' };
  if (scanner.tryTake('?')) return { kind: 'filter', condition: parseExpression(scanner) };
  if (scanner.next === '(') return { kind: 'script', expression: parseExpression(scanner) };
  if (scanner.next === "'" || scanner.next === '"') return { kind: 'name', name: scanner.takeQuoted() };
  const start = parseInteger(scanner);
  scanner.skipSpace();
  if (!scanner.tryTake(':')) {
    return start === undefined
      ? scanner.fail('a name in quotes, an index, "*" or "?"')
      : { kind: 'index', index: start };
  }
  const end = parseInteger(scanner);
  scanner.skipSpace();
  const step = scanner.tryTake(':') ? parseInteger(scanner) : undefined;
  if (step === 0) scanner.fail('a step other than 0');
  return { kind: 'slice', start, end, step: step ?? 1 };
}

function parseInteger(scanner: Scanner): number | undefined {
  scanner.skipSpace();
  const text = scanner.takeMatch(INTEGER);
  return text === undefined ? undefined : Number(text);
}

const SPACE = /\s/;
const MAX_LENGTH = 4096;
const MAX_DEPTH = 64;

/** Reads the text of an expression from start to end. */
class Scanner {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    if (text.length > MAX_LENGTH) throw new Error(`must be no longer than ${MAX_LENGTH} characters`);
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** The next character; empty at the end. */
  get next(): string {
    return this.#text[this.#at] ?? '';
  }

  skipSpace(): void {
    while (SPACE.test(this.next)) this.#at++;
  }

  startsWith(word: string): boolean {
    return this.#text.startsWith(word, this.#at);
  }

  /** Skips a word if it is next. */
  tryTake(word: string): boolean {
    const isNext = this.startsWith(word);
    if (isNext) this.#at += word.length;
    return isNext;
  }

  /** Reads all matching characters. */
  takeWhile(isMeant: (character: string) => boolean): string {
    const start = this.#at;
    while (!this.isAtEnd && isMeant(this.next)) this.#at++;
    return this.#text.slice(start, this.#at);
  }

  /** Reads the match of a sticky regular expression at the current position. */
  takeMatch(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [match] = pattern.exec(this.#text) ?? [];
    this.#at += match?.length ?? 0;
    return match;
  }

  expect(word: string): void {
    if (!this.tryTake(word)) this.fail(JSON.stringify(word));
  }

  /** Reads a string in single or double quotes; a backslash escapes the next character. */
  takeQuoted(): string {
    const quote = this.next;
    this.#at++;
    let text = '';
    while (this.next !== quote) {
      if (this.isAtEnd) this.fail(`a closing ${quote}`);
      if (this.next === '\\') this.#at++;
      text += this.next;
      this.#at++;
    }
    this.#at++;
    return text;
  }

  /** Parses a nested part. */
  within<T>(read: () => T): T {
    this.#depth++;
    if (this.#depth > MAX_DEPTH) throw new Error(`must not be nested deeper than ${MAX_DEPTH} levels`);
    const result = read();
    this.#depth--;
    return result;
  }

  /** Always throws an Error with what was expected, and where. */
  fail(expected: string): never {
    const found = this.isAtEnd ? 'the end' : JSON.stringify(this.#text.slice(this.#at, this.#at + 20));
    throw new Error(`must have ${expected} at character ${this.#at + 1}, not ${found}`);
  }
}

export type Expression =
  | { readonly kind: 'literal'; readonly value: number | string | boolean | null }
  | { readonly kind: 'path'; readonly path: Path }
  | { readonly kind: 'unary'; readonly operator: '-' | '+' | '!'; readonly operand: Expression }
  | {
      readonly kind: 'binary';
      readonly operator: string;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: 'call'; readonly name: string; readonly argument: Expression };

/** Starts at the root of the document (`$`), or at the value that a filter evaluates (`@`). */
export interface Path {
  readonly from: '$' | '@';
  readonly steps: readonly Step[];
}

export interface Step {
  /** Whether it also applies to all descendants. */
  readonly isDeep: boolean;
  readonly selectors: readonly Selector[];
}

export type Selector =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | {
      readonly kind: 'slice';
      readonly start: number | undefined;
      readonly end: number | undefined;
      readonly step: number;
    }
  | { readonly kind: 'all' }
  | { readonly kind: 'filter'; readonly condition: Expression }
  | { readonly kind: 'script'; readonly expression: Expression };
