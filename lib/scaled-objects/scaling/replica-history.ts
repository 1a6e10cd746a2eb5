import type { ChartPoint } from '#lib/ui/time-chart.ts';

/** Bounds memory: an object whose target changes each minute has more than an hour of them. */
const MAX_CHANGES = 100;

/** The replicas of one target over time, since this replica leads. */
export class ReplicaHistory {
  readonly #changes: { readonly atMs: number; readonly replicas: number }[] = [];
  #observedAtMs = 0;

  /** Records an observation; one that equals the previous takes no memory. */
  record(replicas: number, atMs: number): void {
    this.#observedAtMs = atMs;
    if (this.#changes.at(-1)?.replicas === replicas) return;
    if (this.#changes.push({ atMs, replicas }) > MAX_CHANGES) this.#changes.shift();
  }

  /** Each change, oldest first, and the latest observation; empty before the first. */
  points(): readonly ChartPoint[] {
    const points = this.#changes.map(({ atMs, replicas: value }) => ({ atMs, value }));
    const last = points.at(-1);
    if (!last || last.atMs === this.#observedAtMs) return points;
    return [...points, { atMs: this.#observedAtMs, value: last.value }];
  }
}
