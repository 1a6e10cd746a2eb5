import type { ObservedMetric } from '../values/metric-state.ts';

interface Heard {
  /** `undefined` while something fails. */
  text: string | undefined;
  /** When a poll has last told what was known already. */
  confirmedAtMs: number | undefined;
}

/** Tells polls that change what is to be done for an object from those that confirm it, of which there are many more. */
export class HeardStates {
  readonly #heard = new Map<string, Heard>();

  /**
   * Takes in what a poll has left.
   *
   * @param countsValues whether a value that is another one may change what is to be done, as where a formula reads it
   * @returns whether there is nothing new in it; a failure always is, for it is counted
   */
  confirms(
    key: string,
    observed: readonly ObservedMetric[],
    { countsValues, nowMs }: { readonly countsValues: boolean; readonly nowMs: number },
  ): boolean {
    const heard = this.#heard.get(key) ?? { text: undefined, confirmedAtMs: undefined };
    this.#heard.set(key, heard);
    const text = textOf(observed, countsValues);
    if (text !== undefined && text === heard.text) {
      heard.confirmedAtMs = nowMs;
      return true;
    }
    heard.text = text;
    return false;
  }

  /** When what was known of an object was confirmed last; `undefined` where it never was. */
  confirmedAtMs(key: string): number | undefined {
    return this.#heard.get(key)?.confirmedAtMs;
  }

  forget(key: string): void {
    this.#heard.delete(key);
  }
}

/** `undefined` where a metric has no value. */
function textOf(observed: readonly ObservedMetric[], countsValues: boolean): string | undefined {
  const parts: string[] = [];
  for (const { metric, state } of observed) {
    if (state.kind !== 'value') return undefined;
    parts.push(`${metric.metricName} ${state.isActive}${countsValues ? ` ${state.values.join()}` : ''}`);
  }
  return parts.join('\n');
}
