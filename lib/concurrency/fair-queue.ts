/** As long as fewer items were taken, the array is left as it is; then each is copied once on average. */
const MIN_TAKEN = 1024;

/** Items in the order in which they were added; taking the first one costs the same however many there are. */
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
 * A queue that tenants share, round robin: each tenant's items leave in the order in which they were added, and between
 * two items of one tenant every other tenant that has any gets one out.
 */
export class FairQueue<Item> {
  readonly #items = new Map<string, Fifo<Item>>();
  /** Tenants that have items, the next one first. */
  #order = new Fifo<string>();

  /** Adds an item behind the others of its tenant. */
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
   * Takes the first item of the tenant that is next.
   *
   * @param admits whether a tenant may have an item now; one that may not is passed over, and called again with each take
   * @returns `undefined` where there is none that may be taken
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
