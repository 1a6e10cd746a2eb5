/** Lets a bounded number of holders in at once, the others in the order in which they came. */
export class Semaphore {
  readonly #limit: number;
  #held = 0;
  readonly #waiting = new Set<() => void>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether anybody waits for a permit. */
  get isExhausted(): boolean {
    return this.#waiting.size > 0;
  }

  /**
   * Waits for a permit.
   *
   * @returns the permit; dispose it to let the next in
   * @throws the signal's reason when it aborts first
   */
  async acquire(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#held >= this.#limit) await this.#wait(signal);
    else this.#held++;
    let isReleased = false;
    return {
      [Symbol.dispose]: () => {
        if (!isReleased) this.#release();
        isReleased = true;
      },
    };
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.delete(admit);
        reject(signal.reason);
      };
      const admit = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(admit);
    });
  }

  /** The permit passes straight to the longest waiting, so that a newcomer can't take it in between. */
  #release(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#held--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

interface Tenant {
  held: number;
  /** In the order in which they came. */
  readonly waiting: Set<() => void>;
}

/**
 * Lets a bounded number of holders in at once, of one tenant no more than it leaves free to others: however many one
 * sends, and however long they stay, another that comes finds a permit. One alone has half of all permits, two have a third
 * each.
 */
export class FairSemaphore {
  readonly #limit: number;
  readonly #tenants = new Map<string, Tenant>();
  #held = 0;
  #waiting = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether nobody holds a permit, or waits for one. */
  get isIdle(): boolean {
    return this.#tenants.size === 0;
  }

  /**
   * Waits for a permit.
   *
   * @returns the permit; dispose it to let the next in
   * @throws the signal's reason when it aborts first
   */
  async acquire(name: string, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    const tenant: Tenant = this.#tenants.get(name) ?? { held: 0, waiting: new Set() };
    this.#tenants.set(name, tenant);
    if (this.#mayHave(tenant)) this.#give(tenant);
    else await this.#wait(name, tenant, signal);
    return this.#permit(name, tenant, 1);
  }

  /**
   * Takes several permits at once, without waiting.
   *
   * @returns `undefined` when the tenant would hold more than it leaves free to others
   */
  tryAcquire(name: string, permits: number): Disposable | undefined {
    const tenant: Tenant = this.#tenants.get(name) ?? { held: 0, waiting: new Set() };
    if (!this.#mayHave(tenant, permits)) return undefined;
    this.#tenants.set(name, tenant);
    this.#give(tenant, permits);
    return this.#permit(name, tenant, permits);
  }

  #permit(name: string, tenant: Tenant, permits: number): Disposable {
    let isReleased = false;
    return {
      [Symbol.dispose]: () => {
        if (isReleased) return;
        isReleased = true;
        tenant.held -= permits;
        this.#held -= permits;
        this.#forget(name, tenant);
        this.#letIn();
      },
    };
  }

  #wait(name: string, tenant: Tenant, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        if (tenant.waiting.delete(admit)) this.#waiting--;
        this.#forget(name, tenant);
        reject(signal.reason);
      };
      const admit = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      signal.addEventListener('abort', onAbort, { once: true });
      tenant.waiting.add(admit);
      this.#waiting++;
    });
  }

  /** The same as for one after the other. Fails closed: a number of permits that is no number is never given. */
  #mayHave({ held }: Tenant, permits = 1): boolean {
    return held + 2 * permits - 1 <= this.#limit - this.#held;
  }

  #give(tenant: Tenant, permits = 1): void {
    tenant.held += permits;
    this.#held += permits;
  }

  /** The permits pass straight on, first to those that hold the fewest, so that no newcomer takes them in between. */
  #letIn(): void {
    while (this.#waiting > 0) {
      const [next] = [...this.#tenants.values()]
        .filter((tenant) => tenant.waiting.size > 0 && this.#mayHave(tenant))
        .sort((a, b) => a.held - b.held);
      const [admit] = next?.waiting ?? [];
      if (!next || !admit) return;
      next.waiting.delete(admit);
      this.#waiting--;
      this.#give(next);
      admit();
    }
  }

  #forget(name: string, { held, waiting }: Tenant): void {
    if (held === 0 && waiting.size === 0) this.#tenants.delete(name);
  }
}
