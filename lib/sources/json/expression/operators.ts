import { type Json, typeName } from '../json-value.ts';
import type { Budget } from './budget.ts';
import { numberIn } from './functions.ts';

/** Applies an operator other than && and ||, whose right side need not be known. */
export type Operator = (left: Json, right: Json, budget: Budget) => Json;

const arithmetic =
  (apply: (left: number, right: number) => number): Operator =>
  (left, right) =>
    apply(numberIn(left), numberIn(right));

/** Whole numbers of 64 bits, as Go has them. */
const bitwise =
  (apply: (left: bigint, right: bigint) => bigint): Operator =>
  (left, right) =>
    Number(BigInt.asIntN(64, apply(wholeNumber(left), wholeNumber(right))));

const ordered =
  (apply: (left: number | string, right: number | string) => boolean): Operator =>
  (left, right, budget) => {
    if (typeof left === 'number' && typeof right === 'number') return apply(left, right);
    if (typeof left === 'string' && typeof right === 'string') {
      spendOn(left, right, budget);
      return apply(left, right);
    }
    throw new Error(`${typeName(left)} and ${typeName(right)} cannot be compared`);
  };

export const operators: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['**', arithmetic((left, right) => left ** right)],
  ['*', arithmetic((left, right) => left * right)],
  ['/', arithmetic((left, right) => left / divisor(right))],
  ['%', bitwise((left, right) => left % BigInt(divisor(Number(right))))],
  ['<<', bitwise((left, right) => left << shift(right))],
  ['>>', bitwise((left, right) => left >> shift(right))],
  ['&^', bitwise((left, right) => left & ~right)],
  ['&', bitwise((left, right) => left & right)],
  ['|', bitwise((left, right) => left | right)],
  ['^', bitwise((left, right) => left ^ right)],
  ['-', arithmetic((left, right) => left - right)],
  ['+', plus],
  ['==', isEqual],
  ['!=', (left, right, budget) => !isEqual(left, right, budget)],
  ['<', ordered((left, right) => left < right)],
  ['<=', ordered((left, right) => left <= right)],
  ['>', ordered((left, right) => left > right)],
  ['>=', ordered((left, right) => left >= right)],
  ['=~', matches],
]);

const MAX_TEXT = 64 * 1024;
const MAX_SHIFT = 63n;

function plus(left: Json, right: Json): Json {
  if (typeof left !== 'string' || typeof right !== 'string') return numberIn(left) + numberIn(right);
  if (left.length + right.length > MAX_TEXT) throw new Error(`a text is longer than ${MAX_TEXT} characters`);
  return left + right;
}

function spendOn(left: string, right: string, budget: Budget): void {
  budget.spend(Math.min(left.length, right.length) / CHARACTERS_A_STEP);
}

function isEqual(left: Json, right: Json, budget: Budget): boolean {
  if (typeof left === 'object' || typeof right === 'object') return left === null && right === null;
  if (typeof left === 'string' && typeof right === 'string') spendOn(left, right, budget);
  return left === right;
}

const MAX_MATCHED = 4096;
/** Of texts that are compared. */
const CHARACTERS_A_STEP = 64;
/** Whether a text has a match, by the syntax and in the linear time of RE2. */
function matches(left: Json, right: Json, budget: Budget): boolean {
  if (typeof left !== 'string' || typeof right !== 'string') throw new Error('=~ needs two texts');
  if (left.length > MAX_MATCHED) throw new Error(`=~ takes texts of at most ${MAX_MATCHED} characters`);
  const pattern = budget.patternOf(right);
  // Each instruction of the program may be run for each character, which takes as long as a step.
  budget.spend(1 + left.length * pattern.programSize());
  return pattern.matcher(left).find();
}

function wholeNumber(value: Json): bigint {
  const number = numberIn(value);
  if (Number.isSafeInteger(number)) return BigInt(number);
  throw new Error(`a whole number is needed, not ${number}`);
}

function divisor(value: number): number {
  if (value === 0) throw new Error('division by zero');
  return value;
}

function shift(bits: bigint): bigint {
  if (bits < 0n || bits > MAX_SHIFT)
    throw new Error(`a shift must be by 0 to ${MAX_SHIFT} bits, not ${bits}`);
  return bits;
}
