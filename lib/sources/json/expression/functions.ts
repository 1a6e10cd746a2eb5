import { isArray, isObject, type Json, typeName } from '../json-value.ts';
import type { Budget } from './budget.ts';
import { isTrue } from './is-true.ts';
import { type Located, Nodes, type Operand, plain } from './located.ts';

/** What an expression may call, with one argument. */
export type ExpressionFunction = (operand: Operand, budget: Budget) => Operand;

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
  pow10: (value) => 10 ** wholeNumber(value),
  factorial: (value) => {
    let product = 1;
    for (let factor = wholeNumber(value); factor > 1 && Number.isFinite(product); factor--) product *= factor;
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

/** By their names in lower case. */
export const functions: ReadonlyMap<string, ExpressionFunction> = new Map<string, ExpressionFunction>([
  ...Object.entries(NUMERIC).map(
    ([name, apply]) => [name, (operand: Operand) => apply(numberIn(plain(operand)))] as const,
  ),
  ...Object.entries(PREDICATES).map(
    ([name, holds]) => [name, (operand: Operand) => holds(plain(operand))] as const,
  ),
  ['not', (operand, budget) => !isTrue(operand, budget)],
  ['sum', (operand, budget) => sum(numbersIn(operand, budget))],
  [
    'avg',
    (operand, budget) => {
      const numbers = numbersIn(operand, budget);
      if (numbers.length === 0) throw new Error('avg has no numbers');
      return sum(numbers) / numbers.length;
    },
  ],
  ['length', size],
  ['size', size],
  ['first', (operand) => listIn(operand)[0] ?? none('first')],
  ['last', (operand) => listIn(operand).at(-1) ?? none('last')],
  ['parent', (operand) => new Nodes([located(operand).parent ?? none('parent')])],
  ['root', (operand) => new Nodes([rootOf(located(operand))])],
  ['key', (operand) => located(operand).key ?? none('key')],
  ['b64decode', (operand, budget) => Buffer.from(textIn(operand, budget), 'base64').toString('utf8')],
  ['b64encode', (operand, budget) => Buffer.from(textIn(operand, budget)).toString('base64')],
  [
    'b64encoden',
    (operand, budget) => {
      const encoded = Buffer.from(textIn(operand, budget)).toString('base64');
      return encoded.slice(0, encoded.length - (encoded.match(/={1,2}$/)?.[0].length ?? 0));
    },
  ],
]);

/** @throws unless it is a number */
export function numberIn(value: Json): number {
  if (typeof value === 'number') return value;
  throw new Error(`a number is needed, not ${typeName(value)}`);
}

/** As long as this, a text costs a step. */
const CHARACTERS_A_STEP = 16;

function textIn(operand: Operand, budget: Budget): string {
  const value = plain(operand);
  if (typeof value !== 'string') throw new Error(`a text is needed, not ${typeName(value)}`);
  budget.spend(Math.ceil(value.length / CHARACTERS_A_STEP));
  return value;
}

/** The members of the one array, or the values of all nodes. */
function listIn(operand: Operand): readonly Json[] {
  if (operand instanceof Nodes) {
    const [first, ...others] = operand.all;
    if (first && others.length === 0 && isArray(first.value)) return first.value;
    return operand.all.map(({ value }) => value);
  }
  if (isArray(operand)) return operand;
  throw new Error(`an array is needed, not ${typeName(operand)}`);
}

function numbersIn(operand: Operand, budget: Budget): readonly number[] {
  const list = listIn(operand);
  budget.spend(list.length);
  return list.map(numberIn);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function size(operand: Operand, budget: Budget): number {
  const value = operand instanceof Nodes && operand.all.length !== 1 ? listIn(operand) : plain(operand);
  if (typeof value === 'string' || isArray(value)) return value.length;
  if (isObject(value)) return budget.sizeOf(value);
  throw new Error(`an array, an object or a text is needed, not ${typeName(value)}`);
}

function located(operand: Operand): Located {
  const [first, ...others] = operand instanceof Nodes ? operand.all : [];
  if (first && others.length === 0) return first;
  throw new Error('one value of the document is needed');
}

function rootOf(node: Located): Located {
  let root = node;
  while (root.parent) root = root.parent;
  return root;
}

function wholeNumber(value: number): number {
  if (Number.isSafeInteger(value)) return value;
  throw new Error(`a whole number is needed, not ${value}`);
}

function none(what: string): never {
  throw new Error(`${what} finds no value`);
}
