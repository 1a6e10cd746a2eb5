import { type Budget, isTrue, type Located, Nodes, type Operand, toJson } from './jsonpath-operand.ts';
import { isArray, isObject, type Json, typeName } from './read-json.ts';

type ExpressionFunction = (operand: Operand, budget: Budget) => Operand;

const NUMERIC: Readonly<Record<string, (value: number) => number>> = {
  ...{ abs: Math.abs, ceil: Math.ceil, floor: Math.floor, trunc: Math.trunc },
  ...{ acos: Math.acos, acosh: Math.acosh, asin: Math.asin, asinh: Math.asinh },
  ...{ atan: Math.atan, atanh: Math.atanh, cos: Math.cos, cosh: Math.cosh },
  ...{ sin: Math.sin, sinh: Math.sinh, tan: Math.tan, tanh: Math.tanh },
  ...{ sqrt: Math.sqrt, cbrt: Math.cbrt, exp: Math.exp, expm1: Math.expm1 },
  ...{ log: Math.log, log10: Math.log10, log1p: Math.log1p, log2: Math.log2 },
  exp2: (value) => 2 ** value,
  logb: (value) => Math.floor(Math.log2(Math.abs(value))),
  round: (value) => Math.sign(value) * Math.round(Math.abs(value)), // halves away from zero
  roundtoeven: (value) => {
    const isHalf = Math.abs(value % 1) === 0.5;
    return isHalf ? 2 * Math.round(value / 2) : Math.round(value);
  },
  pow10: (value) => 10 ** expectInteger(value, 'pow10'),
  factorial: (value) => {
    let product = 1;
    for (let factor = expectInteger(value, 'factorial'); factor > 1 && Number.isFinite(product); factor--)
      product *= factor;
    return product;
  },
};

const PREDICATES: Readonly<Record<string, (value: Json) => boolean>> = {
  is_null: (value) => value === null,
  is_numeric: (value) => typeof value === 'number',
  is_int: Number.isInteger,
  is_uint: (value) => Number.isInteger(value) && Number(value) >= 0,
  is_float: (value) => typeof value === 'number',
  is_string: (value) => typeof value === 'string',
  is_bool: (value) => typeof value === 'boolean',
  is_array: (value) => isArray(value),
  is_object: isObject,
};

/** By lower-case name. */
export const functions: ReadonlyMap<string, ExpressionFunction> = new Map<string, ExpressionFunction>([
  ...Object.entries(NUMERIC).map(
    ([name, apply]) => [name, (operand: Operand) => apply(expectNumber(toJson(operand)))] as const,
  ),
  ...Object.entries(PREDICATES).map(
    ([name, predicate]) => [name, (operand: Operand) => predicate(toJson(operand))] as const,
  ),
  ['not', (operand, budget) => !isTrue(operand, budget)],
  ['sum', (operand, budget) => sum(expectNumbers(operand, budget))],
  [
    'avg',
    (operand, budget) => {
      const numbers = expectNumbers(operand, budget);
      if (numbers.length === 0) throw new Error('avg has no numbers');
      return sum(numbers) / numbers.length;
    },
  ],
  ['length', size],
  ['size', size],
  ['first', (operand) => expectList(operand)[0] ?? throwNoValue('first')],
  ['last', (operand) => expectList(operand).at(-1) ?? throwNoValue('last')],
  ['parent', (operand) => new Nodes([expectOneNode(operand).parent ?? throwNoValue('parent')])],
  ['root', (operand) => new Nodes([findRoot(expectOneNode(operand))])],
  ['key', (operand) => expectOneNode(operand).key ?? throwNoValue('key')],
  ['b64decode', (operand, budget) => Buffer.from(expectString(operand, budget), 'base64').toString('utf8')],
  ['b64encode', (operand, budget) => Buffer.from(expectString(operand, budget)).toString('base64')],
  [
    'b64encoden',
    (operand, budget) => {
      const encoded = Buffer.from(expectString(operand, budget)).toString('base64');
      return encoded.slice(0, encoded.length - (encoded.match(/={1,2}$/)?.[0].length ?? 0));
    },
  ],
]);

function expectNumber(value: Json): number {
  if (typeof value === 'number') return value;
  throw new Error(`must be a number, not ${typeName(value)}`);
}

const CHARACTERS_PER_STEP = 16;

function expectString(operand: Operand, budget: Budget): string {
  const value = toJson(operand);
  if (typeof value !== 'string') throw new Error(`must be a string, not ${typeName(value)}`);
  budget.spend(Math.ceil(value.length / CHARACTERS_PER_STEP));
  return value;
}

/** Returns the members of a single array, or the values of all nodes. */
function expectList(operand: Operand): readonly Json[] {
  if (operand instanceof Nodes) {
    const [first, ...others] = operand.all;
    if (first && others.length === 0 && isArray(first.value)) return first.value;
    return operand.all.map(({ value }) => value);
  }
  if (isArray(operand)) return operand;
  throw new Error(`must be an array, not ${typeName(operand)}`);
}

function expectNumbers(operand: Operand, budget: Budget): readonly number[] {
  const list = expectList(operand);
  budget.spend(list.length);
  return list.map(expectNumber);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function size(operand: Operand, budget: Budget): number {
  const value = operand instanceof Nodes && operand.all.length !== 1 ? expectList(operand) : toJson(operand);
  if (typeof value === 'string' || isArray(value)) return value.length;
  if (isObject(value)) return budget.sizeOf(value);
  throw new Error(`must be a string, an array or an object, not ${typeName(value)}`);
}

function expectOneNode(operand: Operand): Located {
  const [first, ...others] = operand instanceof Nodes ? operand.all : [];
  if (first && others.length === 0) return first;
  throw new Error('must be a single value of the document');
}

function findRoot(node: Located): Located {
  let root = node;
  while (root.parent) root = root.parent;
  return root;
}

function expectInteger(value: number, what: string): number {
  if (Number.isSafeInteger(value)) return value;
  throw new Error(`${what} requires integers, not ${value}`);
}

function throwNoValue(what: string): never {
  throw new Error(`${what} matches no value`);
}

/** Applies an operator except && and ||, which may not evaluate their right side. */
type Operator = (left: Json, right: Json, budget: Budget) => Json;

const arithmetic =
  (apply: (left: number, right: number) => number): Operator =>
  (left, right) =>
    apply(expectNumber(left), expectNumber(right));

/** 64-bit integers, as in Go. */
const bitwise =
  (operator: string, apply: (left: bigint, right: bigint) => bigint): Operator =>
  (left, right) => {
    const integer = (value: Json) => BigInt(expectInteger(expectNumber(value), operator));
    return Number(BigInt.asIntN(64, apply(integer(left), integer(right))));
  };

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

const MAX_STRING_LENGTH = 64 * 1024;

const COMPARED_CHARACTERS_PER_STEP = 64;

const MAX_MATCHED_LENGTH = 4096;

export const operators: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['**', arithmetic((left, right) => left ** right)],
  ['*', arithmetic((left, right) => left * right)],
  ['/', arithmetic((left, right) => left / divisor(right))],
  ['%', bitwise('%', (left, right) => left % BigInt(divisor(Number(right))))],
  ['<<', bitwise('<<', (left, right) => left << shift(right))],
  ['>>', bitwise('>>', (left, right) => left >> shift(right))],
  ['&^', bitwise('&^', (left, right) => left & ~right)],
  ['&', bitwise('&', (left, right) => left & right)],
  ['|', bitwise('|', (left, right) => left | right)],
  ['^', bitwise('^', (left, right) => left ^ right)],
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

const MAX_SHIFT = 63n;

function plus(left: Json, right: Json): Json {
  if (typeof left !== 'string' || typeof right !== 'string') return expectNumber(left) + expectNumber(right);
  if (left.length + right.length > MAX_STRING_LENGTH)
    throw new Error(`a string is longer than ${MAX_STRING_LENGTH} characters`);
  return left + right;
}

function spendOn(left: string, right: string, budget: Budget): void {
  budget.spend(Math.min(left.length, right.length) / COMPARED_CHARACTERS_PER_STEP);
}

function isEqual(left: Json, right: Json, budget: Budget): boolean {
  if (typeof left === 'object' || typeof right === 'object') return left === null && right === null;
  if (typeof left === 'string' && typeof right === 'string') spendOn(left, right, budget);
  return left === right;
}

/** Matches with RE2, which takes linear time. */
function matches(left: Json, right: Json, budget: Budget): boolean {
  if (typeof left !== 'string' || typeof right !== 'string') throw new Error('=~ requires two strings');
  if (left.length > MAX_MATCHED_LENGTH)
    throw new Error(`=~ requires strings of at most ${MAX_MATCHED_LENGTH} characters`);
  const pattern = budget.compilePattern(right);
  // Each instruction of the program may run for each character, which takes as long as a step.
  budget.spend(1 + left.length * pattern.programSize());
  return pattern.matcher(left).find();
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
