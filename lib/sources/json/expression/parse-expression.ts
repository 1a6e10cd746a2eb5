import { getOwn } from '#lib/kubernetes/get-own.ts';
import { functions } from '../../jsonpath/functions.ts';
import { constants } from './constants.ts';
import { parsePath } from './parse-path.ts';
import { Scanner } from './scanner.ts';
import type { Expression, Path } from './syntax.ts';

/** Operators by how they bind, the loosest first; of those that begin alike, the longer one first. */
const LEVELS: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['==', '!=', '<=', '>=', '=~', '<', '>'],
  ['+', '-', '|', '^'],
  ['*', '/', '%', '<<', '>>', '&^', '&'],
];
/** What begins with an operator of a level, and is another one. */
const NOT_BEFORE: Readonly<Record<string, readonly string[]>> = {
  '|': ['||'],
  '&': ['&&'],
  '*': ['**'],
  '<': ['<<'],
  '>': ['>>'],
};
const NUMBER = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[A-Za-z_][A-Za-z0-9_]*/y;

/**
 * Reads a path in Goessner's JSONPath that stands alone.
 *
 * @throws an Error that says what rule is broken where
 */
export function parseJsonPath(text: string): Path {
  const scanner = new Scanner(text.trim());
  if (!scanner.takes('$')) scanner.fail('"$"');
  const path = parsePath(scanner, '$', { parseExpression: expression, standsAlone: true });
  if (!scanner.isAtEnd) scanner.fail('".", "[" or the end');
  return path;
}

/**
 * Reads an expression of numbers, texts and paths.
 *
 * @throws an Error that says what rule is broken where
 */
export function parseExpression(text: string): Expression {
  const scanner = new Scanner(text);
  const read = expression(scanner);
  scanner.skipSpace();
  if (!scanner.isAtEnd) scanner.fail('an operator or the end');
  return read;
}

function expression(scanner: Scanner): Expression {
  return scanner.within(() => level(scanner, 0));
}

function level(scanner: Scanner, index: number): Expression {
  const operators = LEVELS[index];
  if (!operators) return power(scanner);
  let left = level(scanner, index + 1);
  for (;;) {
    scanner.skipSpace();
    const operator = operators.find((one) => isNext(scanner, one));
    if (operator === undefined) return left;
    scanner.expect(operator);
    left = { kind: 'binary', operator, left, right: level(scanner, index + 1) };
  }
}

function isNext(scanner: Scanner, operator: string): boolean {
  const isLonger = (getOwn(NOT_BEFORE, operator) ?? []).some((longer) => scanner.sees(longer));
  return !isLonger && scanner.sees(operator);
}

/** `a ** b ** c` is `a ** (b ** c)`. */
function power(scanner: Scanner): Expression {
  const left = unary(scanner);
  scanner.skipSpace();
  if (!scanner.takes('**')) return left;
  return { kind: 'binary', operator: '**', left, right: scanner.within(() => power(scanner)) };
}

function unary(scanner: Scanner): Expression {
  scanner.skipSpace();
  for (const operator of ['-', '+', '!'] as const)
    if (scanner.takes(operator))
      return { kind: 'unary', operator, operand: scanner.within(() => unary(scanner)) };
  return primary(scanner);
}

function primary(scanner: Scanner): Expression {
  if (scanner.takes('(')) {
    const inner = expression(scanner);
    scanner.skipSpace();
    scanner.expect(')');
    return inner;
  }
  for (const from of ['$', '@'] as const)
    if (scanner.takes(from)) {
      const path = parsePath(scanner, from, { parseExpression: expression, standsAlone: false });
      return { kind: 'path', path };
    }
  if (scanner.next === "'" || scanner.next === '"') return { kind: 'literal', value: scanner.takeQuoted() };
  const number = scanner.takeMatch(NUMBER);
  if (number !== undefined) return { kind: 'literal', value: finite(Number(number), scanner) };
  const word = scanner.takeMatch(WORD);
  return word === undefined ? scanner.fail('a value') : named(scanner, word);
}

/** A function with its argument, or a constant. */
function named(scanner: Scanner, word: string): Expression {
  const name = word.toLowerCase();
  scanner.skipSpace();
  if (scanner.takes('(')) {
    if (!functions.has(name)) throw new Error(`must not call ${JSON.stringify(word)}, which is no function`);
    const argument = expression(scanner);
    scanner.skipSpace();
    scanner.expect(')');
    return { kind: 'call', name, argument };
  }
  const value = constants.get(name);
  if (value === undefined)
    throw new Error(`must not use ${JSON.stringify(word)}, which is neither a path nor a constant`);
  return { kind: 'literal', value };
}

function finite(value: number, scanner: Scanner): number {
  return Number.isFinite(value) ? value : scanner.fail('a smaller number before');
}
