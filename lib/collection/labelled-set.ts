import type { LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';

/** What has labels of its own. */
interface Labelled {
  readonly labels: Readonly<Record<string, string>>;
}

/** A set whose members are found by a label that all of them have: autoscalers ask for one of a thousand. */
export class LabelledSet<T extends Labelled> implements Iterable<T> {
  readonly #members = new Set<T>();
  readonly #byKey = new Map<string, ByValue<T>>();

  get size(): number {
    return this.#members.size;
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#members.values();
  }

  add(member: T): void {
    if (this.#members.has(member)) return;
    this.#members.add(member);
    for (const [key, value] of Object.entries(member.labels)) {
      const byValue = this.#byKey.get(key) ?? new ByValue<T>();
      this.#byKey.set(key, byValue);
      byValue.add(value, member);
    }
  }

  delete(member: T): void {
    if (!this.#members.delete(member)) return;
    for (const [key, value] of Object.entries(member.labels)) {
      const byValue = this.#byKey.get(key);
      byValue?.delete(value, member);
      if (byValue?.count === 0) this.#byKey.delete(key);
    }
  }

  /**
   * Every member that a selector may match once it has further labels, in the order in which they were added, and
   * possibly others.
   */
  candidates(selector: LabelSelector): ReadonlySet<T> {
    let fewest: ReadonlySet<T> = this.#members;
    for (const { key, operator, values } of selector.requirements) {
      const [value, ...others] = values;
      const isOneValue = (operator === '=' || operator === '==' || operator === 'in') && others.length === 0;
      const byValue = this.#byKey.get(key);
      // One without this label may get it from its source.
      if (!isOneValue || value === undefined || byValue?.count !== this.#members.size) continue;
      const having = byValue.having(value);
      if (having.size < fewest.size) fewest = having;
    }
    return fewest;
  }
}

/** Members by what they have as one label. */
class ByValue<T> {
  readonly #members = new Map<string, Set<T>>();
  count = 0;

  having(value: string): ReadonlySet<T> {
    return this.#members.get(value) ?? NONE;
  }

  add(value: string, member: T): void {
    const members = this.#members.get(value) ?? new Set();
    this.#members.set(value, members.add(member));
    this.count++;
  }

  delete(value: string, member: T): void {
    const members = this.#members.get(value);
    members?.delete(member);
    if (members?.size === 0) this.#members.delete(value);
    this.count--;
  }
}

const NONE: ReadonlySet<never> = new Set();
