import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../schema/schema.ts';

type Step =
  | { readonly field: string }
  | { readonly index: number }
  | { readonly isAll: true }
  | { readonly where: readonly string[]; readonly equals: unknown };

// A field, one in brackets, an index, all, or a filter `[?(@.type=="Ready")]`; none overlaps another.
const STEP =
  /\.([\w$-]+(?:\\\.[\w$-]+)*)|\['([^']*)'\]|\["([^"]*)"\]|\[(\d+)\]|(\.\*|\[\*\])|\[\?\(@((?:\.[\w-]+)+)\s*==\s*("[^"]*"|'[^']*'|true|false|\d+)\)\]/y;

/**
 * Reads the part of JSONPath that printer columns use: `.spec.jobs[0].name`, `.status.conditions[?(@.type=="Ready")].status`.
 *
 * @throws Error for a path that is none
 */
export function parseJsonPath(path: string): (object: unknown) => readonly unknown[] {
  const steps: Step[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < path.length) {
    const at = STEP.lastIndex;
    const match = STEP.exec(path);
    if (!match) throw new Error(`Cannot read JSON path "${path}" from character ${at} on`);
    steps.push(stepOf(match));
  }
  return (object) =>
    steps.reduce<readonly unknown[]>((found, step) => found.flatMap((one) => follow(one, step)), [object]);
}

function stepOf([, field, single, double, index, all, where, value = '']: RegExpExecArray): Step {
  const name = field?.replaceAll('\\.', '.') ?? single ?? double;
  if (name !== undefined) return { field: name };
  if (index !== undefined) return { index: Number(index) };
  if (all !== undefined) return { isAll: true };
  return { where: (where ?? '').split('.').slice(1), equals: JSON.parse(value.replaceAll("'", '"')) };
}

function follow(value: unknown, step: Step): readonly unknown[] {
  if ('field' in step) return isRecord(value) && Object.hasOwn(value, step.field) ? [value[step.field]] : [];
  const items = Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : [];
  if ('index' in step) return step.index in items ? [items[step.index]] : [];
  if ('isAll' in step) return items;
  return items.filter((item) => {
    const found = step.where.reduce<unknown>((one, field) => (isRecord(one) ? one[field] : undefined), item);
    return isDeepStrictEqual(found, step.equals);
  });
}
