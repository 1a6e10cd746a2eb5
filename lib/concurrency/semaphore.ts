/** Lets a bounded number of holders in at once, the others in the order in which they came. */
export class Semaphore {
  readonly #limit: number;
  #acquired = 0;
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
    if (this.#acquired >= this.#limit) await this.#wait(signal);
    else this.#acquired++;
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
      this.#acquired--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

/** Thrown to a caller that may not even wait. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';

  constructor() {
    super('too many wait already');
  }
}

interface Tenant {
  acquired: number;
  /** In the order in which they came. */
  readonly waiting: Set<() => void>;
}

/**
 * Lets a bounded number of holders in at once, of one tenant no more than it leaves free to others: however many one
 * sends, and however long they stay, another that comes finds a permit. One alone has half of all permits, two have a third
 * each. Tenants that have as many get permits round robin.
 */
export class FairSemaphore {
  readonly #limit: number;
  readonly #maxWaiting: number;
  readonly #tenants = new Map<string, Tenant>();
  #acquired = 0;
  #waiting = 0;

  /** @param options.maxWaiting how many may wait, of one tenant half as many; by default any number */
  constructor(limit: number, { maxWaiting = Number.POSITIVE_INFINITY } = {}) {
    this.#limit = limit;
    this.#maxWaiting = maxWaiting;
  }

  get waitingCount(): number {
    return this.#waiting;
  }

  /** Whether nobody holds a permit, or waits for one. */
  get isIdle(): boolean {
    return this.#tenants.size === 0;
  }

  /**
   * Waits for a permit.
   *
   * @returns the permit; dispose it to let the next in
   * @throws {QueueFullError} where too many wait already
   * @throws the signal's reason when it aborts first
   */
  async acquire(name: string, signal?: AbortSignal): Promise<Disposable> {
    signal?.throwIfAborted();
    const tenant: Tenant = this.#tenants.get(name) ?? { acquired: 0, waiting: new Set() };
    if (!this.#mayAcquire(tenant) && this.#isFullFor(tenant)) throw new QueueFullError();
    this.#tenants.set(name, tenant);
    if (this.#mayAcquire(tenant)) this.#grant(tenant);
    else await this.#wait(name, tenant, signal);
    return this.#permit(name, tenant, 1);
  }

  /**
   * Takes several permits at once, without waiting.
   *
   * @returns `undefined` when the tenant would hold more than it leaves free to others
   */
  tryAcquire(name: string, permits: number): Disposable | undefined {
    const tenant: Tenant = this.#tenants.get(name) ?? { acquired: 0, waiting: new Set() };
    if (!this.#mayAcquire(tenant, permits)) return undefined;
    this.#tenants.set(name, tenant);
    this.#grant(tenant, permits);
    return this.#permit(name, tenant, permits);
  }

  #permit(name: string, tenant: Tenant, permits: number): Disposable {
    let isReleased = false;
    return {
      [Symbol.dispose]: () => {
        if (isReleased) return;
        isReleased = true;
        tenant.acquired -= permits;
        this.#acquired -= permits;
        this.#removeIfUnused(name, tenant);
        this.#admitWaiting();
      },
    };
  }

  #isFullFor({ waiting }: Tenant): boolean {
    return this.#waiting >= this.#maxWaiting || waiting.size >= this.#maxWaiting / 2;
  }

  #wait(name: string, tenant: Tenant, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        if (tenant.waiting.delete(admit)) this.#waiting--;
        this.#removeIfUnused(name, tenant);
        reject(signal?.reason);
      };
      const admit = () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      tenant.waiting.add(admit);
      this.#waiting++;
    });
  }

  /** The same as for one after the other. Fails closed: a number of permits that is no number is never given. */
  #mayAcquire({ acquired }: Tenant, permits = 1): boolean {
    return acquired + 2 * permits - 1 <= this.#limit - this.#acquired;
  }

  #grant(tenant: Tenant, permits = 1): void {
    tenant.acquired += permits;
    this.#acquired += permits;
  }

  /** The permits pass straight on, first to those that hold the fewest, so that no newcomer takes them in between. */
  #admitWaiting(): void {
    while (this.#waiting > 0) {
      const [[name, next] = []] = [...this.#tenants]
        .filter(([, tenant]) => tenant.waiting.size > 0 && this.#mayAcquire(tenant))
        .sort(([, a], [, b]) => a.acquired - b.acquired);
      const [admit] = next?.waiting ?? [];
      if (name === undefined || !next || !admit) return;
      this.#tenants.delete(name);
      this.#tenants.set(name, next); // behind the others that have as many
      next.waiting.delete(admit);
      this.#waiting--;
      this.#grant(next);
      admit();
    }
  }

  #removeIfUnused(name: string, { acquired, waiting }: Tenant): void {
    if (acquired === 0 && waiting.size === 0) this.#tenants.delete(name);
  }
}
