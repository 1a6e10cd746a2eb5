import type { Json } from '../json-value.ts';
import { Budget, ExhaustedBudget } from './budget.ts';
import { functions } from './functions.ts';
import { isTrue } from './is-true.ts';
import { type Located, Nodes, type Operand, plain } from './located.ts';
import { operators } from './operators.ts';
import { type Selecting, selectNodes } from './select-nodes.ts';
import type { Expression, Path } from './syntax.ts';

/** All values of a document that a path leads to. */
export function valuesAt(path: Path, document: Json): readonly Json[] {
  const root: Located = { value: document, key: undefined, parent: undefined };
  return nodesAt(path, { root, current: root, budget: new Budget() }).all.map(({ value }) => value);
}

/**
 * What an expression comes to with a document.
 *
 * @throws an Error that says which value does not fit, and when it is too much work
 */
export function evaluate(expression: Expression, document: Json): Json {
  const root: Located = { value: document, key: undefined, parent: undefined };
  return plain(operandOf(expression, { root, current: root, budget: new Budget() }));
}

interface Context {
  readonly root: Located;
  readonly current: Located;
  readonly budget: Budget;
}

function nodesAt({ from, steps }: Path, context: Context): Nodes {
  const { root, current, budget } = context;
  const selecting: Selecting = {
    budget,
    isMet: (condition, node) => isMet(condition, { root, current: node, budget }),
    keyOf: (expression, node) => plain(operandOf(expression, { root, current: node, budget })),
  };
  return new Nodes(selectNodes(from === '$' ? root : current, steps, selecting));
}

/** An error notes where it was thrown, which takes as long as this much else. */
const STEPS_OF_AN_ERROR = 5;

/** A condition that cannot be judged, as where it compares what is not there, is not met. */
function isMet(condition: Expression, context: Context): boolean {
  try {
    return isTrue(operandOf(condition, context), context.budget);
  } catch (error) {
    if (error instanceof ExhaustedBudget) throw error;
    context.budget.spend(STEPS_OF_AN_ERROR);
    return false;
  }
}

function operandOf(expression: Expression, context: Context): Operand {
  context.budget.spend(1);
  switch (expression.kind) {
    case 'literal':
      return expression.value;
    case 'path':
      return nodesAt(expression.path, context);
    case 'call': {
      const apply = functions.get(expression.name);
      if (!apply) throw new Error(`there is no function ${expression.name}`);
      return apply(operandOf(expression.argument, context), context.budget);
    }
    case 'unary':
      return unary(expression.operator, operandOf(expression.operand, context), context.budget);
    case 'binary':
      return binary(expression, context);
  }
}

function unary(operator: '-' | '+' | '!', operand: Operand, budget: Budget): Operand {
  if (operator === '!') return !isTrue(operand, budget);
  const value = plain(operand);
  if (typeof value !== 'number') throw new Error(`${operator} needs a number`);
  return operator === '-' ? -value : value;
}

function binary(
  { operator, left, right }: Extract<Expression, { readonly kind: 'binary' }>,
  context: Context,
): Operand {
  if (operator === '&&' || operator === '||') {
    const isLeftTrue = isTrue(operandOf(left, context), context.budget);
    return isLeftTrue === (operator === '||')
      ? isLeftTrue
      : isTrue(operandOf(right, context), context.budget);
  }
  const apply = operators.get(operator);
  if (!apply) throw new Error(`there is no operator ${operator}`);
  return apply(plain(operandOf(left, context)), plain(operandOf(right, context)), context.budget);
}
