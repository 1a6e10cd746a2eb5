/** Limits concurrency; waiting callers are admitted in order. */
export class Semaphore {
  readonly #limit: number;
  #acquired = 0;
  readonly #waiting = new Set<() => void>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Waits for a permit.
   *
   * @returns the permit; dispose of it to admit the next caller
   * @throws the signal's reason if it aborts first
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

  /** Passes the permit directly to the first waiting caller, so that no later caller can take it in between. */
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

/** Too many callers wait for a permit. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';

  constructor() {
    super('too many callers are waiting');
  }
}

interface Tenant {
  readonly name: string;
  acquired: number;
  /** In order of arrival. */
  readonly waiting: Set<() => void>;
}

/**
 * Limits concurrency fairly: a tenant acquires no more permits than it leaves free for others, so another tenant
 * always finds a permit. A single tenant gets half of all permits, two get a third each. Tenants with equally many
 * permits are served round robin.
 */
export class FairSemaphore {
  readonly #limit: number;
  readonly #maxWaiting: number;
  readonly #tenants = new Map<string, Tenant>();
  #acquired = 0;
  #waiting = 0;

  /** @param options.maxWaiting maximum number of waiting callers, half as many per tenant; unlimited by default */
  constructor(limit: number, { maxWaiting = Number.POSITIVE_INFINITY } = {}) {
    this.#limit = limit;
    this.#maxWaiting = maxWaiting;
  }

  get waitingCount(): number {
    return this.#waiting;
  }

  /** Whether no permit is acquired or waited for. */
  get isIdle(): boolean {
    return this.#tenants.size === 0;
  }

  /**
   * Waits for a permit.
   *
   * @returns the permit; dispose of it to admit the next caller
   * @throws {QueueFullError} if too many callers wait
   * @throws the signal's reason if it aborts first
   */
  async acquire(name: string, signal?: AbortSignal): Promise<Disposable> {
    signal?.throwIfAborted();
    const tenant: Tenant = this.#tenants.get(name) ?? { name, acquired: 0, waiting: new Set() };
    if (!this.#mayAcquire(tenant) && this.#isFullFor(tenant)) throw new QueueFullError();
    this.#tenants.set(name, tenant);
    if (this.#mayAcquire(tenant)) this.#grant(tenant);
    else await this.#wait(tenant, signal);
    return this.#permit(tenant, 1);
  }

  /**
   * Acquires several permits at once, without waiting.
   *
   * @returns `undefined` if the tenant would have more permits than it leaves free for others
   */
  tryAcquire(name: string, permits: number): Disposable | undefined {
    const tenant: Tenant = this.#tenants.get(name) ?? { name, acquired: 0, waiting: new Set() };
    if (!this.#mayAcquire(tenant, permits)) return undefined;
    this.#tenants.set(name, tenant);
    this.#grant(tenant, permits);
    return this.#permit(tenant, permits);
  }

  #permit(tenant: Tenant, permits: number): Disposable {
    let isReleased = false;
    return {
      [Symbol.dispose]: () => {
        if (isReleased) return;
        isReleased = true;
        tenant.acquired -= permits;
        this.#acquired -= permits;
        this.#removeIfUnused(tenant);
        this.#admitWaiting();
      },
    };
  }

  #isFullFor({ waiting }: Tenant): boolean {
    return this.#waiting >= this.#maxWaiting || waiting.size >= this.#maxWaiting / 2;
  }

  #wait(tenant: Tenant, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        if (tenant.waiting.delete(admit)) this.#waiting--;
        this.#removeIfUnused(tenant);
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

  /** Equivalent to acquiring the permits one by one. Fails closed: false if `permits` is NaN. */
  #mayAcquire({ acquired }: Tenant, permits = 1): boolean {
    return acquired + 2 * permits - 1 <= this.#limit - this.#acquired;
  }

  #grant(tenant: Tenant, permits = 1): void {
    tenant.acquired += permits;
    this.#acquired += permits;
  }

  /** Passes free permits directly to waiting callers, first to the tenant with the fewest permits. */
  #admitWaiting(): void {
    while (this.#waiting > 0) {
      let next: Tenant | undefined;
      for (const tenant of this.#tenants.values())
        if (tenant.waiting.size > 0 && (!next || tenant.acquired < next.acquired)) next = tenant;
      const [admit] = next?.waiting ?? [];
      if (!next || !admit || !this.#mayAcquire(next)) return;
      this.#tenants.delete(next.name);
      this.#tenants.set(next.name, next); // after other tenants with equally many permits
      next.waiting.delete(admit);
      this.#waiting--;
      this.#grant(next);
      admit();
    }
  }

  #removeIfUnused({ name, acquired, waiting }: Tenant): void {
    if (acquired === 0 && waiting.size === 0) this.#tenants.delete(name);
  }
}
