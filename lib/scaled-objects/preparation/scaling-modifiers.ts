import type { ScaledObject } from '../api/scaled-object.ts';
import { compileFormula, type Formula } from './formula.ts';

/** Name of the metric that replaces all external metrics. */
export const COMPOSITE_METRIC = 'composite-metric';

/** A formula over the values of triggers, with the targets of its result. */
export interface Modifiers {
  readonly formula: Formula;
  readonly target: number;
  readonly activationTarget: number;
  readonly metricType: 'AverageValue' | 'Value';
}

/** Triggers that a formula cannot use, because the HPA controller reads them. */
export const RESOURCE_TRIGGERS: readonly string[] = ['cpu', 'memory'];

/**
 * Parses the formula of a ScaledObject and evaluates it once, with -1 for each trigger.
 *
 * @returns `undefined` if no formula is set
 * @throws an Error with the reason
 */
export function modifiersOf({ spec }: ScaledObject): Modifiers | undefined {
  const given = spec.advanced?.scalingModifiers;
  if (!given || Object.values(given).every((value) => value === '' || value === undefined)) return undefined;
  const {
    formula: text = '',
    target: targetText = '',
    activationTarget: activation = '',
    metricType,
  } = given;
  if (text === '') throw new Error('error ScalingModifiers.Formula is mandatory');
  if (targetText === '') throw new Error('formula is given but target is empty');
  const target = numberOf(targetText);
  if (target === undefined || !(target > 0))
    throw new Error(
      `error converting target for scalingModifiers (string->float) to valid target: ${targetText.slice(0, 100)}`,
    );
  const activationTarget = activation === '' ? 0 : numberOf(activation);
  if (activationTarget === undefined)
    throw new Error(
      `error converting activationTarget for scalingModifiers to a number: ${activation.slice(0, 100)}`,
    );
  if (metricType === 'Utilization')
    throw new Error(
      'error trigger type is Utilization, but it needs to be AverageValue or Value for external metrics',
    );
  const nameless = spec.triggers.find(({ name, type }) => !name && !RESOURCE_TRIGGERS.includes(type));
  if (nameless)
    throw new Error(`trigger of type ${nameless.type} has no name but it's required for a formula`);
  const formula = compileFormula(text);
  const names = spec.triggers.flatMap(({ name, type }) =>
    name && !RESOURCE_TRIGGERS.includes(type) ? [name] : [],
  );
  formula.evaluate(Object.fromEntries(names.map((name) => [name, -1])));
  return { formula, target, activationTarget, metricType: metricType ?? 'AverageValue' };
}

function numberOf(text: string): number | undefined {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}
