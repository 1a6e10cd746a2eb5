import type { LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';

/** One label that everything has which a selector selects. */
export interface LabelEquality {
  readonly key: string;
  readonly value: string;
}

/** A label that a selector asks for by one value; `undefined` for a selector that has no such condition. */
export function equalityOf(selector: LabelSelector): LabelEquality | undefined {
  for (const { key, operator, values } of selector.requirements) {
    const [value] = values;
    if (value !== undefined && values.length === 1 && EQUALITIES.has(operator)) return { key, value };
  }
  return undefined;
}

const EQUALITIES: ReadonlySet<string> = new Set(['=', '==', 'in']);
