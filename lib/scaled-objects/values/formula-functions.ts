import { getOwn } from '#lib/kubernetes/get-own.ts';

/** What an expression may be. */
export type FormulaValue = number | boolean | string | null | readonly FormulaValue[];

type Numbers = (numbers: readonly number[]) => number;

/** Of numbers, given one by one or as a list. */
const OF_NUMBERS: Readonly<Record<string, Numbers>> = {
  max: (numbers) => numbers.reduce((a, b) => Math.max(a, b)),
  min: (numbers) => numbers.reduce((a, b) => Math.min(a, b)),
  sum: (numbers) => numbers.reduce((a, b) => a + b, 0),
  mean: (numbers) => numbers.reduce((a, b) => a + b, 0) / numbers.length,
  median: (numbers) => {
    const sorted = numbers.toSorted((a, b) => a - b);
    const half = Math.floor(sorted.length / 2);
    const upper = sorted[half] ?? Number.NaN;
    return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2;
  },
};

/** Of one number. */
const OF_NUMBER: Readonly<Record<string, (value: number) => number>> = {
  abs: Math.abs,
  ceil: Math.ceil,
  floor: Math.floor,
  // Away from zero where two are as near.
  round: (value) => Math.sign(value) * Math.round(Math.abs(value)),
  int: Math.trunc,
  float: (value) => value,
};

/** Of a list, and what a predicate says of its items. */
const OF_PREDICATE: Readonly<
  Record<string, (list: readonly FormulaValue[], results: readonly FormulaValue[]) => FormulaValue>
> = {
  all: (_, results) => results.every((result) => result === true),
  any: (_, results) => results.some((result) => result === true),
  none: (_, results) => !results.some((result) => result === true),
  one: (_, results) => results.filter((result) => result === true).length === 1,
  count: (_, results) => results.filter((result) => result === true).length,
  filter: (list, results) => list.filter((_item, index) => results[index] === true),
  map: (_, results) => results,
  sum: (_, results) => OF_NUMBERS.sum?.(numbersOf('sum', results)) ?? 0,
  find: (list, results) => list.find((_item, index) => results[index] === true) ?? null,
};

/** Calls a function of the language. @throws an Error where there is none, or it does not take what it is given */
export function callFunction(name: string, given: readonly FormulaValue[]): FormulaValue {
  const [first = null, second] = given;
  const predicate = getOwn(OF_PREDICATE, name);
  if (predicate && Array.isArray(first) && Array.isArray(second)) return predicate(first, second);
  if (name === 'len' && Array.isArray(first)) return first.length;
  if (name === 'count' && Array.isArray(first)) return first.filter((item) => item === true).length;
  const ofNumber = getOwn(OF_NUMBER, name);
  if (ofNumber && given.length === 1) return ofNumber(numberOf(name, first));
  const ofNumbers = getOwn(OF_NUMBERS, name);
  if (!ofNumbers) throw new Error(`unknown function ${name}`);
  const numbers = numbersOf(
    name,
    given.flatMap((one) => (Array.isArray(one) ? one : [one])),
  );
  if (numbers.length === 0 && name !== 'sum') throw new Error(`${name} takes at least one number`);
  return ofNumbers(numbers);
}

function numbersOf(name: string, values: readonly FormulaValue[]): readonly number[] {
  return values.map((value) => numberOf(name, value));
}

function numberOf(name: string, value: FormulaValue): number {
  if (typeof value === 'number') return value;
  throw new Error(`${name} takes numbers, not ${value === null ? 'nil' : typeof value}`);
}
