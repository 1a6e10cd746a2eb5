import type { Fallback } from '../objects/scaled-object.ts';
import { type FallbackContext, fallbackReplicas, fallbackValue } from './fallback.ts';
import type { ObservedMetric } from './metric-state.ts';
import type { Modifiers } from './modifiers.ts';

/** What a formula makes of what is known of its triggers. */
export type Composite =
  | { readonly kind: 'pending' }
  | { readonly kind: 'value'; readonly value: number; readonly isActive: boolean }
  | { readonly kind: 'failing'; readonly error: Error };

/** What the formula is worked out with. */
export interface CompositeOptions extends FallbackContext {
  readonly modifiers: Modifiers;
  readonly fallback: Fallback | undefined;
}

/** The value of the formula; of a failing trigger it knows nothing until the fallback says what. */
export function compositeOf(observed: readonly ObservedMetric[], options: CompositeOptions): Composite {
  const { modifiers, fallback } = options;
  const failing = observed.find(({ state }) => state.kind === 'failing')?.state;
  if (failing?.kind === 'failing') return failing;
  const lost = observed.find(({ state }) => state.kind === 'fallback');
  if (lost && fallback && fallback.behavior !== 'scalingModifiers') return substituted(lost, options);
  if (observed.some(({ state }) => state.kind === 'pending')) return { kind: 'pending' };
  try {
    const value = modifiers.formula.evaluate(valuesOf(observed));
    if (value === undefined) return nilResult(options);
    return { kind: 'value', value, isActive: value > modifiers.activationTarget };
  } catch (error) {
    return { kind: 'failing', error: error instanceof Error ? error : new Error(String(error)) };
  }
}

/** By the names of triggers; one that has several values has their sum. */
function valuesOf(observed: readonly ObservedMetric[]): Readonly<Record<string, number | undefined>> {
  const values = new Map<string, number | undefined>();
  for (const { trigger, state } of observed) {
    const name = trigger.name ?? '';
    const own = state.kind === 'value' ? state.values.reduce((sum, value) => sum + value, 0) : undefined;
    values.set(name, own === undefined ? values.get(name) : (values.get(name) ?? 0) + own);
  }
  return Object.fromEntries(values);
}

function substituted({ metric, state }: ObservedMetric, options: CompositeOptions): Composite {
  const { fallback, replicas } = options;
  const error = state.kind === 'fallback' ? state.error : new Error('error performing fallback');
  if (!fallback) return { kind: 'failing', error };
  try {
    const value = fallbackValue(metric, fallback, options);
    if (value === undefined) return { kind: 'failing', error };
    return { kind: 'value', value, isActive: (fallbackReplicas(fallback, replicas) ?? 0) > 0 };
  } catch (cause) {
    return { kind: 'failing', error: cause instanceof Error ? cause : new Error(String(cause)) };
  }
}

function nilResult({ fallback, modifiers }: CompositeOptions): Composite {
  if (!fallback)
    return { kind: 'failing', error: new Error('the formula gives nil, and there is no fallback') };
  return { kind: 'value', value: fallback.replicas * modifiers.target, isActive: fallback.replicas > 0 };
}
