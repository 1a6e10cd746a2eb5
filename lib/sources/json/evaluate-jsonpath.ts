import { getOwn } from '#lib/kubernetes/get-own.ts';
import { functions, operators } from './jsonpath-functions.ts';
import {
  Budget,
  BudgetExhaustedError,
  isTrue,
  type Located,
  Nodes,
  type Operand,
  toJson,
} from './jsonpath-operand.ts';
import type { Expression, Path, Selector, Step } from './parse-jsonpath.ts';
import { isArray, isObject, type Json } from './read-json.ts';

/** Returns all values of a document that match a path. */
export function findValues(path: Path, document: Json): readonly Json[] {
  const root: Located = { value: document, key: undefined, parent: undefined };
  return findNodes(path, { root, current: root, budget: new Budget() }).all.map(({ value }) => value);
}

/**
 * Evaluates an expression with a document.
 *
 * @throws an Error if a value has the wrong type, or the work exceeds the budget
 */
export function evaluate(expression: Expression, document: Json): Json {
  const root: Located = { value: document, key: undefined, parent: undefined };
  return toJson(evaluateOperand(expression, { root, current: root, budget: new Budget() }));
}

interface Context {
  readonly root: Located;
  readonly current: Located;
  readonly budget: Budget;
}

function findNodes({ from, steps }: Path, context: Context): Nodes {
  const { root, current, budget } = context;
  const selecting: Selecting = {
    budget,
    isMet: (condition, node) => isMet(condition, { root, current: node, budget }),
    evaluateKey: (expression, node) => toJson(evaluateOperand(expression, { root, current: node, budget })),
  };
  return new Nodes(selectNodes(from === '$' ? root : current, steps, selecting));
}

/** Creating an error with its stack takes as long as this many steps. */
const STEPS_PER_ERROR = 5;

/** A condition that cannot be evaluated, such as a comparison with a missing value, is not met. */
function isMet(condition: Expression, context: Context): boolean {
  try {
    return isTrue(evaluateOperand(condition, context), context.budget);
  } catch (error) {
    if (error instanceof BudgetExhaustedError) throw error;
    context.budget.spend(STEPS_PER_ERROR);
    return false;
  }
}

function evaluateOperand(expression: Expression, context: Context): Operand {
  context.budget.spend(1);
  switch (expression.kind) {
    case 'literal':
      return expression.value;
    case 'path':
      return findNodes(expression.path, context);
    case 'call': {
      const apply = functions.get(expression.name);
      if (!apply) throw new Error(`unknown function ${expression.name}`);
      return apply(evaluateOperand(expression.argument, context), context.budget);
    }
    case 'unary':
      return evaluateUnary(expression.operator, evaluateOperand(expression.operand, context), context.budget);
    case 'binary':
      return evaluateBinary(expression, context);
  }
}

function evaluateUnary(operator: '-' | '+' | '!', operand: Operand, budget: Budget): Operand {
  if (operator === '!') return !isTrue(operand, budget);
  const value = toJson(operand);
  if (typeof value !== 'number') throw new Error(`operator "${operator}" requires a number`);
  return operator === '-' ? -value : value;
}

function evaluateBinary(
  { operator, left, right }: Extract<Expression, { readonly kind: 'binary' }>,
  context: Context,
): Operand {
  if (operator === '&&' || operator === '||') {
    const isLeftTrue = isTrue(evaluateOperand(left, context), context.budget);
    return isLeftTrue === (operator === '||')
      ? isLeftTrue
      : isTrue(evaluateOperand(right, context), context.budget);
  }
  const apply = operators.get(operator);
  if (!apply) throw new Error(`unknown operator ${operator}`);
  return apply(
    toJson(evaluateOperand(left, context)),
    toJson(evaluateOperand(right, context)),
    context.budget,
  );
}

/** Callbacks of selectors to evaluate expressions. */
interface Selecting {
  readonly budget: Budget;
  /** Evaluates a filter for a value. */
  readonly isMet: (condition: Expression, node: Located) => boolean;
  /** Evaluates an expression in brackets, which names a member. */
  readonly evaluateKey: (expression: Expression, node: Located) => Json;
}

/** Returns everything that the steps select, in document order. */
function selectNodes(start: Located, steps: readonly Step[], selecting: Selecting): readonly Located[] {
  let nodes: readonly Located[] = [start];
  for (const { isDeep, selectors } of steps) {
    const from = isDeep ? nodes.flatMap((node) => listDescendants(node, selecting.budget)) : nodes;
    const found: Located[] = [];
    for (const node of from)
      for (const selector of selectors)
        for (const one of selectFrom(node, selector, selecting)) {
          selecting.budget.spend(1);
          found.push(one);
        }
    nodes = found;
  }
  return nodes;
}

/** Returns a value and all its descendants, in document order. */
function listDescendants(start: Located, budget: Budget): readonly Located[] {
  const found: Located[] = [];
  const waiting = [start];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    budget.spend(1);
    found.push(node);
    const within = [...listChildren(node)];
    budget.spend(within.length / 16);
    for (const child of within.reverse()) waiting.push(child);
  }
  return found;
}

function* listChildren(node: Located): Generator<Located> {
  const { value } = node;
  if (isArray(value))
    for (const [index, one] of value.entries()) yield { value: one, key: index, parent: node };
  else if (isObject(value))
    for (const [key, one] of Object.entries(value)) yield { value: one, key, parent: node };
}

function* selectFrom(node: Located, selector: Selector, selecting: Selecting): Generator<Located> {
  if (selector.kind === 'all') yield* listChildren(node);
  else if (selector.kind === 'filter') {
    for (const child of listChildren(node)) {
      selecting.budget.spend(1);
      if (selecting.isMet(selector.condition, child)) yield child;
    }
  } else if (selector.kind === 'slice') yield* selectSlice(node, selector, selecting.budget);
  else {
    selecting.budget.spend(1);
    const child = findMember(node, evaluateKey(selector, node, selecting));
    if (child) yield child;
  }
}

function evaluateKey(
  selector: Exclude<Selector, { readonly kind: 'all' | 'filter' | 'slice' }>,
  node: Located,
  { evaluateKey: evaluate }: Selecting,
): Json {
  if (selector.kind === 'name') return selector.name;
  return selector.kind === 'index' ? selector.index : evaluate(selector.expression, node);
}

/** Finds a member by name or index; negative indexes count from the end. Arrays also have `length`. */
function findMember(node: Located, key: Json): Located | undefined {
  const { value } = node;
  if (isArray(value)) {
    if (key === 'length') return { value: value.length, key, parent: node };
    if (typeof key !== 'number') return undefined;
    const index = key < 0 ? value.length + key : key;
    const one = value[index];
    return one === undefined ? undefined : { value: one, key: index, parent: node };
  }
  if (!isObject(value) || typeof key !== 'string') return undefined;
  const one = getOwn(value, key);
  return one === undefined ? undefined : { value: one, key, parent: node };
}

function* selectSlice(
  node: Located,
  { start, end, step }: Extract<Selector, { readonly kind: 'slice' }>,
  budget: Budget,
): Generator<Located> {
  const { value } = node;
  if (!isArray(value)) return;
  const { length } = value;
  const bound = (index: number | undefined, otherwise: number) => {
    if (index === undefined) return otherwise;
    const [min, max] = step > 0 ? [0, length] : [-1, length - 1];
    return Math.min(Math.max(index < 0 ? length + index : index, min), max);
  };
  const [from, to] =
    step > 0 ? [bound(start, 0), bound(end, length)] : [bound(start, length - 1), bound(end, -1)];
  for (let index = from; step > 0 ? index < to : index > to; index += step) {
    budget.spend(1);
    const child = findMember(node, index);
    if (child) yield child;
  }
}
