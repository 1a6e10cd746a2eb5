/** Number of removed items after which the array is compacted, which copies each item once on average. */
const MIN_TAKEN = 1024;

/** A first-in, first-out queue with constant amortized time per operation. */
class Fifo<Item> {
  #items: Item[] = [];
  #taken = 0;

  get length(): number {
    return this.#items.length - this.#taken;
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  shift(): Item | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#taken];
    if (++this.#taken >= MIN_TAKEN && this.#taken * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#taken);
      this.#taken = 0;
    }
    return item;
  }
}

/**
 * A queue that tenants share round robin: items of one tenant are removed in the order in which they were added, and
 * between two items of one tenant, one of every other tenant that has any is removed.
 */
export class FairQueue<Item> {
  readonly #items = new Map<string, Fifo<Item>>();
  /** Tenants with items, the next one first. */
  #order = new Fifo<string>();

  push(tenant: string, item: Item): void {
    let own = this.#items.get(tenant);
    if (!own) {
      own = new Fifo();
      this.#items.set(tenant, own);
      this.#order.push(tenant);
    }
    own.push(item);
  }

  /**
   * Removes and returns the first item of the next tenant.
   *
   * @param admits whether a tenant may receive an item now; other tenants are skipped and checked again by each call
   * @returns `undefined` if no admitted tenant has items
   */
  shift(admits: (tenant: string) => boolean = () => true): Item | undefined {
    for (let left = this.#order.length; left > 0; left--) {
      const tenant = this.#order.shift();
      const own = tenant === undefined ? undefined : this.#items.get(tenant);
      if (tenant === undefined || !own) continue;
      if (!admits(tenant)) {
        this.#order.push(tenant);
        continue;
      }
      const item = own.shift();
      if (own.length > 0) this.#order.push(tenant);
      else this.#items.delete(tenant);
      return item;
    }
    return undefined;
  }

  clear(): void {
    this.#items.clear();
    this.#order = new Fifo();
  }
}
