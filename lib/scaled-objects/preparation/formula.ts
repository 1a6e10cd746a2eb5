import { isDeepStrictEqual } from 'node:util';
import jsep from 'jsep';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { messageOf } from '#lib/telemetry/error-text.ts';

/** An expression over the values of triggers. */
export interface Formula {
  /**
   * Evaluates the formula. The last result is cached, because the values of one poll are evaluated several times.
   *
   * @param values by trigger name, not changed afterwards; `undefined` for a trigger without a value, which `??` replaces
   * @returns `undefined` if the result is nil
   * @throws an Error for an unknown name, or a result that is not a number
   */
  evaluate(values: Readonly<Record<string, number | undefined>>): number | undefined;
}

const MAX_LENGTH = 2000;
/** Limits one evaluation: nested predicates multiply. */
const MAX_STEPS = 10_000;
/** Parses a formula; its text is never run as code. @throws an Error with the reason */
export function compileFormula(text: string): Formula {
  if (text.length > MAX_LENGTH)
    throw new Error(`error trying to compile custom formula: longer than ${MAX_LENGTH} characters`);
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
        `the result is ${typeof result === 'number' ? String(result) : `a ${typeof result}`}, not a number`,
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

/** One evaluation, in a bounded number of steps. */
class Evaluation {
  readonly #values: Scope;
  #steps = 0;
  #item: FormulaValue = null;

  constructor(values: Scope) {
    this.#values = values;
  }

  valueOf(node: jsep.Expression): FormulaValue {
    if (++this.#steps > MAX_STEPS) throw new Error(`more than ${MAX_STEPS} steps`);
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
        throw new Error(`${expression.type} is not supported`);
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
  throw new Error('the literal is not supported');
}

function unary(operator: string, value: FormulaValue): FormulaValue {
  if (operator === '!' || operator === 'not') return !isTrue(value);
  if (operator === '-') return -asNumber(value, operator);
  if (operator === '+') return asNumber(value, operator);
  throw new Error(`operator ${operator} is not supported`);
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
      throw new Error(`operator ${operator} is not supported`);
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

type FormulaValue = number | boolean | string | null | readonly FormulaValue[];

type Numbers = (numbers: readonly number[]) => number;

/** Functions of several numbers or a list. */
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

/** Functions of one number. */
const OF_NUMBER: Readonly<Record<string, (value: number) => number>> = {
  abs: Math.abs,
  ceil: Math.ceil,
  floor: Math.floor,
  // Rounds half away from zero.
  round: (value) => Math.sign(value) * Math.round(Math.abs(value)),
  int: Math.trunc,
  float: (value) => value,
};

/** Functions of a list and the results of a predicate for its items. */
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

/** @throws an Error for an unknown function or arguments of wrong types */
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
/** Precedence of `**` in jsep. */
const POWER = 11;
/** Precedences in jsep of operators that formulas redefine. */
const OWN_XOR = 4;
const OWN_COALESCE = 1;

/**
 * Parses an expression: the language of jsep, with `and`, `or`, `not`, `in`, `nil`, and predicates in braces, in which `#` is
 * the current item.
 *
 * @throws an Error with the reason and the position
 */
export function formulaTree(text: string): jsep.Expression {
  using _ = speakFormulas();
  return jsep(text);
}

/** jsep has one global configuration: it is changed only while one formula is parsed. */
function speakFormulas(): Disposable {
  const hooks = jsep.hooks as unknown as Record<string, unknown[] | undefined>;
  const before = hooks['gobble-token'] ?? [];
  jsep.addIdentifierChar('#');
  jsep.addBinaryOp('and', 2);
  jsep.addBinaryOp('or', 1);
  jsep.addBinaryOp('in', 7);
  jsep.addUnaryOp('not');
  jsep.addLiteral('nil', null);
  // As in expr, the language of KEDA's formulas: `^` is a power, and `??` binds tightest.
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
