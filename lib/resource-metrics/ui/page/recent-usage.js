/** As many points as the server keeps of nodes. */
const LONGEST = 40;

/** Remembers what pods used for as long as this page is open: so many points each, of those that are shown. */
export class RecentUsage {
  #points = new Map();

  /** Takes in what is shown now; what is not shown any more is forgotten. */
  record(pods) {
    const next = new Map();
    for (const { key, timestamp, cores, bytes } of pods) {
      const known = this.of(key);
      const isNew = cores !== undefined && known.at(-1)?.timestamp !== timestamp;
      next.set(key, isNew ? [...known.slice(1 - LONGEST), { timestamp, cores, bytes }] : known);
    }
    this.#points = next;
  }

  of(key) {
    return this.#points.get(key) ?? [];
  }
}
