import type jsep from 'jsep';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { callFunction, type FormulaValue } from './formula-functions.ts';
import { formulaTree } from './formula-tree.ts';

/** An expression over the values of triggers. */
export interface Formula {
  /**
   * Works it out.
   *
   * @param values by the names of triggers; `undefined` for one that has none, which `??` replaces
   * @returns `undefined` where the result is nil
   * @throws an Error where a name is unknown, or the result is no number
   */
  evaluate(values: Readonly<Record<string, number | undefined>>): number | undefined;
}

const MAX_LENGTH = 2000;
/** Steps of one evaluation: lists within lists multiply. */
const MOST_STEPS = 10_000;
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
  return {
    evaluate(values) {
      try {
        const result = new Evaluation(values).valueOf(expression);
        if (result === null) return undefined;
        if (typeof result === 'number' && Number.isFinite(result)) return result;
        throw new Error(
          `it gives ${typeof result === 'number' ? String(result) : `a ${typeof result}`}, not a number`,
        );
      } catch (cause) {
        throw new Error(`error trying to run custom formula: ${messageOf(cause)}`, { cause });
      }
    },
  };
}

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
    if (++this.#steps > MOST_STEPS) throw new Error(`it takes more than ${MOST_STEPS} steps`);
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

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
