import type { ObservedMetric } from './metric-state.ts';

/** Whether a metric is active, and since when it has been so. */
export interface Activity {
  readonly isActive: boolean;
  readonly sinceMs: number;
}

/** Remembers of the metrics of one object since when they have been active, or not. */
export class ActivityLog {
  #activities: ReadonlyMap<string, Activity> = new Map();

  /** Takes in what is known now; what is not known just now stays as it was, and what is gone goes. */
  note(observed: readonly ObservedMetric[], nowMs: number): void {
    const entries = observed.flatMap(({ metric: { metricName }, state }): [string, Activity][] => {
      const known = this.#activities.get(metricName);
      if (state.kind !== 'value') return known ? [[metricName, known]] : [];
      const { isActive } = state;
      return [[metricName, known?.isActive === isActive ? known : { isActive, sinceMs: nowMs }]];
    });
    this.#activities = new Map(entries);
  }

  of(metricName: string): Activity | undefined {
    return this.#activities.get(metricName);
  }
}
