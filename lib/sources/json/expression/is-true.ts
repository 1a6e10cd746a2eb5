import { isArray, isObject } from '../json-value.ts';
import { Nodes, type Operand } from './located.ts';

/** What counts as a condition that is met: what is there and neither false, null, zero nor empty. */
export function isTrue(operand: Operand): boolean {
  if (operand instanceof Nodes) {
    const [first, ...others] = operand.all;
    return first !== undefined && (others.length > 0 || isTrue(first.value));
  }
  if (isArray(operand)) return operand.length > 0;
  if (isObject(operand)) return Object.keys(operand).length > 0;
  return Boolean(operand);
}
