import { isDeepStrictEqual } from 'node:util';
import jsep from 'jsep';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { messageOf } from '#lib/telemetry/error-text.ts';

/** An expression over the values of triggers. */
export interface Formula {
  /**
   * Works it out; the last result is cached, as one poll has several readers.
   *
   * @param values unchanged afterwards, by the names of triggers; `undefined` for one that has none, which `??` replaces
   * @returns `undefined` where the result is nil
   * @throws an Error where a name is unknown, or the result is no number
   */
  evaluate(values: Readonly<Record<string, number | undefined>>): number | undefined;
}

const MAX_LENGTH = 2000;
/** Steps of one evaluation: lists within lists multiply. */
const MAX_STEPS = 10_000;
/** Reads a formula; its text is never run as code. @throws an Error that says what cannot be read */
export function compileFormula(text: string): Formula {
  if (text.length > MAX_LENGTH)
    throw new Error(`error trying to compile custom formula: it is longer than ${MAX_LENGTH} characters`);
  let expression: jsep.Expression;
  try {
    expression = formulaTree(text);
  } catch (cause) {
    throw new Error(`error trying to compile custom formula: ${messageOf(cause)}`, { cause });
  }
  const compute = (values: Scope): Outcome => {
    try {
      const result = new Evaluation(values).valueOf(expression);
      if (result === null) return { result: undefined };
      if (typeof result === 'number' && Number.isFinite(result)) return { result };
      throw new Error(
        `it gives ${typeof result === 'number' ? String(result) : `a ${typeof result}`}, not a number`,
      );
    } catch (cause) {
      return { error: new Error(`error trying to run custom formula: ${messageOf(cause)}`, { cause }) };
    }
  };
  let last: { readonly values: Scope; readonly outcome: Outcome } | undefined;
  return {
    evaluate(values) {
      if (!last || !isDeepStrictEqual(last.values, values)) last = { values, outcome: compute(values) };
      const { outcome } = last;
      if ('error' in outcome) throw outcome.error;
      return outcome.result;
    },
  };
}

type Outcome = { readonly result: number | undefined } | { readonly error: Error };
type Scope = Readonly<Record<string, number | undefined>>;

/** One run of a formula, which takes a bounded number of steps. */
class Evaluation {
  readonly #values: Scope;
  #steps = 0;
  #item: FormulaValue = null;

  constructor(values: Scope) {
    this.#values = values;
  }

  valueOf(node: jsep.Expression): FormulaValue {
    if (++this.#steps > MAX_STEPS) throw new Error(`it takes more than ${MAX_STEPS} steps`);
    const expression = node as jsep.CoreExpression;
    switch (expression.type) {
      case 'Literal':
        return literalOf(expression.value);
      case 'Identifier':
        return this.#variable(expression.name);
      case 'UnaryExpression':
        return unary(expression.operator, this.valueOf(expression.argument));
      case 'BinaryExpression':
        return this.#binary(expression);
      case 'ConditionalExpression':
        return this.valueOf(
          isTrue(this.valueOf(expression.test)) ? expression.consequent : expression.alternate,
        );
      case 'ArrayExpression':
        return expression.elements.map((element) => (element ? this.valueOf(element) : null));
      case 'CallExpression':
        return this.#call(expression);
      default:
        throw new Error(`${expression.type} is not known`);
    }
  }

  #variable(name: string): FormulaValue {
    if (name === '#') return this.#item;
    if (!Object.hasOwn(this.#values, name)) throw new Error(`unknown name ${name}`);
    return getOwn(this.#values, name) ?? null;
  }

  #binary({ operator, left, right }: jsep.BinaryExpression): FormulaValue {
    const first = this.valueOf(left);
    if (operator === '??') return first ?? this.valueOf(right);
    if (operator === '&&' || operator === 'and') return isTrue(first) && isTrue(this.valueOf(right));
    if (operator === '||' || operator === 'or') return isTrue(first) || isTrue(this.valueOf(right));
    const second = this.valueOf(right);
    if (operator === '==') return first === second;
    if (operator === '!=') return first !== second;
    if (operator === 'in') return Array.isArray(second) && second.includes(first as never);
    return arithmetic(operator, asNumber(first, operator), asNumber(second, operator));
  }

  #call({ callee, arguments: given }: jsep.CallExpression): FormulaValue {
    if (callee.type !== 'Identifier') throw new Error('only functions can be called');
    const [first, second] = given as readonly (jsep.Expression | undefined)[];
    const name = (callee as jsep.Identifier).name;
    if (second?.type !== 'Predicate')
      return callFunction(
        name,
        given.map((one) => this.valueOf(one)),
      );
    const list = first ? this.valueOf(first) : null;
    if (!Array.isArray(list)) throw new Error(`${name} takes a list`);
    const outer = this.#item;
    const results = list.map((item) => {
      this.#item = item;
      return this.valueOf(second.body as jsep.Expression);
    });
    this.#item = outer;
    return callFunction(name, [list, results]);
  }
}

function literalOf(value: unknown): FormulaValue {
  if (value === null || typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string')
    return value;
  throw new Error('a literal is no number');
}

function unary(operator: string, value: FormulaValue): FormulaValue {
  if (operator === '!' || operator === 'not') return !isTrue(value);
  if (operator === '-') return -asNumber(value, operator);
  if (operator === '+') return asNumber(value, operator);
  throw new Error(`operator ${operator} is not known`);
}

function arithmetic(operator: string, a: number, b: number): FormulaValue {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '%':
      return a % b;
    case '**':
    case '^':
      return a ** b;
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    case '>=':
      return a >= b;
    default:
      throw new Error(`operator ${operator} is not known`);
  }
}

function isTrue(value: FormulaValue): boolean {
  if (typeof value === 'boolean') return value;
  throw new Error('a condition must be true or false');
}

function asNumber(value: FormulaValue, operator: string): number {
  if (typeof value === 'number') return value;
  throw new Error(
    `${operator} takes numbers, not ${value === null ? 'nil' : Array.isArray(value) ? 'a list' : `a ${typeof value}`}`,
  );
}

/** What an expression may be. */
type FormulaValue = number | boolean | string | null | readonly FormulaValue[];

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
function callFunction(name: string, given: readonly FormulaValue[]): FormulaValue {
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

const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
/** How tightly jsep has `**` bind. */
const POWER = 11;
/** How tightly it has others bind that mean something else to formulas. */
const OWN_XOR = 4;
const OWN_COALESCE = 1;

/**
 * Reads an expression of the language of formulas: that of jsep, with words for operators, `nil`, and predicates in
 * braces, in which `#` is the item at hand.
 *
 * @throws an Error that says what cannot be read, and where
 */
export function formulaTree(text: string): jsep.Expression {
  using _ = speakFormulas();
  return jsep(text);
}

/** jsep has one language for the whole process, so it has ours only while one formula is read. */
function speakFormulas(): Disposable {
  const hooks = jsep.hooks as unknown as Record<string, unknown[] | undefined>;
  const before = hooks['gobble-token'] ?? [];
  jsep.addIdentifierChar('#');
  jsep.addBinaryOp('and', 2);
  jsep.addBinaryOp('or', 1);
  jsep.addBinaryOp('in', 7);
  jsep.addUnaryOp('not');
  jsep.addLiteral('nil', null);
  // As in expr, the language of KEDA's formulas: a power whatever its sign, and what replaces nil before anything else.
  jsep.addBinaryOp('^', POWER, true);
  jsep.addBinaryOp('??', POWER + 1);
  hooks['gobble-token'] = [...before, gobblePredicate];
  return {
    [Symbol.dispose]() {
      jsep.removeIdentifierChar('#');
      for (const operator of ['and', 'or', 'in']) jsep.removeBinaryOp(operator);
      jsep.removeUnaryOp('not');
      jsep.removeLiteral('nil');
      jsep.addBinaryOp('^', OWN_XOR);
      jsep.addBinaryOp('??', OWN_COALESCE);
      hooks['gobble-token'] = before;
    },
  };
}

function gobblePredicate(this: jsep.HookScope, env: { node?: jsep.Expression }): void {
  if (this.code !== OPEN_BRACE) return;
  this.index++;
  const [body] = this.gobbleExpressions(CLOSE_BRACE);
  if (Number(this.code) !== CLOSE_BRACE) this.throwError('Unclosed {');
  this.index++;
  if (!body) this.throwError('Expected an expression in {}');
  env.node = { type: 'Predicate', body };
}
