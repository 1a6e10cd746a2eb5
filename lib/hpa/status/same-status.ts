import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { HpaStatus } from '../objects/hpa-status.ts';
import { parseNanos } from '../quantities/parse-quantity.ts';

/**
 * Whether two statuses mean the same, so that nothing needs to be written.
 *
 * An empty list is as good as none, and quantities are compared by what they amount to.
 */
export function isSameStatus(one: HpaStatus | undefined, other: HpaStatus): boolean {
  return isSame(one ?? UNWRITTEN, other);
}

/** The status that the API server shows of an HPA that nobody has reconciled. */
const UNWRITTEN: HpaStatus = { currentReplicas: 0, desiredReplicas: 0 };

/** @param name of the field, and `parent` of what it is in */
function isSame(one: unknown, other: unknown, name = '', parent = ''): boolean {
  if (one === other || (isEmpty(one) && isEmpty(other))) return true;
  if (typeof one === 'string' && typeof other === 'string') return isSameText(one, other, name, parent);
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) {
    return COUNTS.has(name) && (one ?? 0) === (other ?? 0);
  }
  const [first, second] = [one as Record<string, unknown>, other as Record<string, unknown>];
  const keys = new Set([...Object.keys(first), ...Object.keys(second)]);
  for (const key of keys) if (!isSame(getOwn(first, key), getOwn(second, key), key, name)) return false;
  return true;
}

/** Numbers that Go's JSON leaves out when they are zero. */
const COUNTS: ReadonlySet<string> = new Set(['currentReplicas', 'desiredReplicas']);

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (typeof value !== 'object') return false;
  for (const _ in value) return false;
  return true;
}

function isSameText(one: string, other: string, name: string, parent: string): boolean {
  if (name === 'lastScaleTime' || name === 'lastTransitionTime') return Date.parse(one) === Date.parse(other);
  if (parent !== 'current') return false;
  try {
    return parseNanos(one) === parseNanos(other);
  } catch {
    return false; // written by somebody who does not write quantities
  }
}
