/** The same as the server's trends of nodes. */
const MAX_POINTS = 40;

/** Recent usage of the pods shown, collected while the page is open. */
export class RecentUsage {
  #points = new Map();

  /** Records the pods shown; evicts others. */
  record(pods) {
    const next = new Map();
    for (const { key, timestamp, cores, bytes } of pods) {
      const points = this.of(key);
      const isNew = cores !== undefined && points.at(-1)?.timestamp !== timestamp;
      next.set(key, isNew ? [...points.slice(1 - MAX_POINTS), { timestamp, cores, bytes }] : points);
    }
    this.#points = next;
  }

  of(key) {
    return this.#points.get(key) ?? [];
  }
}
