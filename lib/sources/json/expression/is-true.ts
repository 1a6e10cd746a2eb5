import { isArray, isObject } from '../json-value.ts';
import type { Budget } from './budget.ts';
import { Nodes, type Operand } from './located.ts';

/** What counts as a condition that is met: what is there and neither false, null, zero nor empty. */
export function isTrue(operand: Operand, budget: Budget): boolean {
  if (operand instanceof Nodes) {
    const [first, ...others] = operand.all;
    return first !== undefined && (others.length > 0 || isTrue(first.value, budget));
  }
  if (isArray(operand)) return operand.length > 0;
  if (isObject(operand)) return budget.sizeOf(operand) > 0;
  return Boolean(operand);
}
