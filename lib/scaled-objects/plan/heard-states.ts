import type { ObservedMetric } from '../values/metric-state.ts';

interface Heard {
  /** `undefined` while something fails. */
  text: string | undefined;
  /** When a poll has last left a trigger active, by the monotonic clock. */
  lastActiveAtMs: number | undefined;
}

/** Tells polls that change what is to be done for an object from those that confirm it, of which there are many more. */
export class HeardStates {
  readonly #heard = new Map<string, Heard>();

  /**
   * Takes in what a poll has left.
   *
   * @param countsValues whether a value that is another one may change what is to be done, as where a formula reads it
   * @param isActive whether it is activity that a cooldown counts from
   * @returns whether there is nothing new in it; a failure always is, for it is counted
   */
  confirms(
    key: string,
    observed: readonly ObservedMetric[],
    options: { readonly countsValues: boolean; readonly isActive: boolean; readonly monotonicMs: number },
  ): boolean {
    const heard = this.#heard.get(key) ?? { text: undefined, lastActiveAtMs: undefined };
    this.#heard.set(key, heard);
    if (options.isActive) heard.lastActiveAtMs = options.monotonicMs;
    const text = textOf(observed, options.countsValues);
    const isSame = text !== undefined && text === heard.text;
    heard.text = text;
    return isSame;
  }

  /** When a poll has last found an object active, by the monotonic clock; `undefined` where none did. */
  lastActiveAtMs(key: string): number | undefined {
    return this.#heard.get(key)?.lastActiveAtMs;
  }

  forget(key: string): void {
    this.#heard.delete(key);
  }
}

/** `undefined` where a metric has no value. */
function textOf(observed: readonly ObservedMetric[], countsValues: boolean): string | undefined {
  const parts: string[] = [];
  for (const { metric, state, isPushed } of observed) {
    if (state.kind !== 'value') return undefined;
    parts.push(
      `${metric.metricName} ${state.isActive}${isPushed ? ' pushed' : ''}${countsValues ? ` ${state.values.join()}` : ''}`,
    );
  }
  return parts.join('\n');
}
