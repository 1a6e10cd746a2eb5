import type { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { FailureLog } from '#lib/telemetry/failure-log.ts';
import { LineBudgets } from '#lib/telemetry/line-budget.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { Backoff } from '#lib/time/backoff.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startIdleTimeout } from '#lib/time/deadline.ts';
import type { ApiClient } from '../client/api-client.ts';
import { ApiError, isExpired, isNotFound, MalformedResponse } from '../client/api-error.ts';
import {
  type Collection,
  listCollection,
  resourceOf,
  type WatchEvent,
  watchCollection,
} from '../client/list-watch.ts';
import { nameOfKey, objectMetadata, resourceVersionOf } from '../objects/kubernetes-object.ts';
import { NamespaceBudget, type NamespaceBudgetOptions } from './namespace-budget.ts';
import type { ObjectStore, VersionedObject } from './object-store.ts';

/** A collection whose path must be discovered: its kind may be served later, or in another version. */
export interface LocatedCollection {
  /** The plural name of the resource, for logs. */
  readonly resource: string;
  /** Waits until it is served. Called before the first list, and again after {@link lose}. */
  locate(signal: AbortSignal): Promise<Collection>;
  /** Called when the API server no longer serves it. */
  lose(): void;
}

/**
 * State of an informer: `waiting` until its kind is served, `forbidden` while it may not be listed, `polling` while it
 * may be listed but not watched.
 */
export type InformerState = 'idle' | 'waiting' | 'forbidden' | 'listing' | 'watching' | 'polling';

interface ReflectorOptions<T> {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly collection: Collection | LocatedCollection;
  /**
   * Reduces an object to what is cached; `undefined` for one that is not cached. Throws for one that cannot be read.
   */
  readonly transform: (object: unknown) => T | undefined;
  readonly store: ObjectStore<T>;
  readonly budget?: NamespaceBudgetOptions<T> | undefined;
  /** Where long events are processed; by default as they arrive. */
  readonly share?: EventLoopShare | undefined;
  /** Called after every complete list. */
  readonly listed: () => void;
  /** Interval of lists where watching is forbidden; by default that is a failure like any other. */
  readonly relistMs?: number | (() => number | undefined) | undefined;
  /** A number in [0, 1), to spread requests of many clients over time. */
  readonly random: () => number;
}

/** The API server ends a watch after this long, and up to twice as long. */
const WATCH_TIMEOUT_S = 300;
/** The API server sends a bookmark a minute; after a longer silence the connection may be dead. */
const IDLE_TIMEOUT_MS = 150_000;
/** A watch that ends sooner is not reopened at once. */
const MIN_WATCH_MS = 1_000;
const BACKOFF = { initialMs: 250, maxMs: 8_000 };
/** A longer retry delay of a server is reduced to this. */
const MAX_RETRY_AFTER_MS = 300_000;

const NOT_SERVED = {
  level: 'warning',
  message: 'Waiting for a resource that the API server does not serve',
} as const;
const NOT_ALLOWED = { level: 'error', message: 'Waiting for permission to list objects' } as const;

/** Log lines per hour about unreadable objects of one namespace. */
const MAX_UNREADABLE_LINES = 10;

/** What is cached of an object; for an unreadable one that is what was cached before. */
interface TransformedObject<T> {
  readonly key: string;
  readonly version: number;
  /** `undefined` for one that is of no interest, and for an unreadable one. */
  readonly value: T | undefined;
  readonly isUnreadable: boolean;
}

/**
 * Synchronizes a store with a collection of the API server: lists it once, then watches it, and lists again only when
 * the watch's version has expired.
 *
 * An object that cannot be read is logged by name. The previously cached value remains until the object can be read
 * again or is deleted: controllers must not mistake an existing object for a deleted one.
 */
export class Reflector<T> {
  readonly #options: ReflectorOptions<T>;
  readonly #name: string;
  readonly #backoff: Backoff;
  #located: Collection | undefined;
  #resourceVersion: string | undefined;
  #budget: NamespaceBudget<T> | undefined;
  #isReadingReduced = false;
  #state: InformerState = 'idle';
  readonly #failures: FailureLog;
  #isListedAlone = false;
  readonly #oddities = new Set<string>();
  readonly #unreadableLines: LineBudgets;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    const { collection } = options;
    this.#name = nameOfCollection(collection);
    this.#located = 'locate' in collection ? undefined : collection;
    this.#backoff = new Backoff({ ...BACKOFF, random: options.random });
    this.#unreadableLines = new LineBudgets(options.clock, MAX_UNREADABLE_LINES);
    this.#failures = new FailureLog({
      logger: options.logger,
      failing: 'Cannot list or watch objects; keeping cached ones and retrying',
      recovered: 'Listing and watching objects again',
      causeOf: (error) => (error instanceof ApiError ? `status ${error.statusCode}` : 'no usable response'),
      lineOf: (error) => {
        if (isNotFound(error)) return NOT_SERVED;
        return this.#state === 'forbidden' ? NOT_ALLOWED : undefined;
      },
    });
  }

  get state(): InformerState {
    return this.#state;
  }

  /** Runs until the signal aborts, whatever happens. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        this.#resourceVersion ??= await this.#list(signal);
        await this.#watchOrWait(this.#resourceVersion, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!canResume(error)) this.#resourceVersion = undefined;
        if (isNotFound(error)) this.#lose();
        await this.#pause(error, signal);
      }
    }
  }

  async #list(signal: AbortSignal): Promise<string> {
    const { client, store, listed, budget: bounds } = this.#options;
    const collection = await this.#locate(signal);
    if (this.#state !== 'forbidden') this.#state = 'listing';
    const objects = new Map<string, VersionedObject<T>>();
    const budget = bounds && new NamespaceBudget(bounds);
    const resourceVersion = await listCollection(client, collection, {
      signal,
      visit: (object) => {
        const transformed = this.#transform(object);
        const found = transformed?.isUnreadable ? store.getVersioned(transformed.key) : transformed;
        if (!transformed || found?.value === undefined) return;
        const { key } = transformed;
        const { version, value } = found;
        objects.set(key, { version, value: store.reuse(key, budget?.fit(key, value) ?? value) });
      },
    }).catch((error: unknown) => {
      this.#state = isForbidden(error) ? 'forbidden' : 'listing';
      throw error;
    });
    this.#budget = budget;
    store.replace(objects, Number(resourceVersion));
    listed();
    return resourceVersion;
  }

  async #locate(signal: AbortSignal): Promise<Collection> {
    const { collection } = this.#options;
    if (this.#located) return this.#located;
    if (!('locate' in collection)) return collection;
    this.#state = 'waiting';
    this.#located = await collection.locate(signal);
    return this.#located;
  }

  #lose(): void {
    const { collection } = this.#options;
    if (!('locate' in collection)) return;
    this.#located = undefined;
    collection.lose();
  }

  /** Where watching is forbidden, waits until the next list, which is followed by another attempt to watch. */
  async #watchOrWait(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const { clock, logger, relistMs: period } = this.#options;
    try {
      await this.#watch(resourceVersion, signal);
    } catch (error) {
      const relistMs = typeof period === 'function' ? period() : period;
      if (relistMs === undefined || !isForbidden(error)) throw error;
      this.#state = 'polling';
      this.#succeed();
      if (!this.#isListedAlone)
        logger.info('Watch is forbidden; falling back to polling', { resource: this.#name, relistMs });
      this.#isListedAlone = true;
      this.#resourceVersion = undefined;
      this.#backoff.reset();
      await clock.sleep(relistMs, { signal });
    }
  }

  async #watch(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const { client, clock, random, share } = this.#options;
    const collection = await this.#locate(signal);
    const timeoutSeconds = Math.floor(WATCH_TIMEOUT_S * (1 + random()));
    const expired = () =>
      new Error(`Cannot watch ${collection.path}: no event within ${IDLE_TIMEOUT_MS / 1000}s`);
    using idle = startIdleTimeout(clock, IDLE_TIMEOUT_MS, { signal, expired });
    const startedAtMs = clock.monotonicMs();
    const options = { resourceVersion, timeoutSeconds, signal: idle.signal, share };
    const events = await watchCollection(client, collection, options);
    this.#state = 'watching';
    this.#succeed();
    try {
      for await (const event of events) {
        idle.restart();
        this.#apply(event);
        void this.#readReduced(collection, signal);
        this.#backoff.reset();
      }
    } catch (error) {
      if (!idle.hasExpired) throw error; // else it is opened again, which shows whether the server is available
    }
    if (clock.monotonicMs() - startedAtMs < MIN_WATCH_MS) await clock.sleep(MIN_WATCH_MS, { signal });
    else this.#backoff.reset();
  }

  #apply({ type, object }: WatchEvent): void {
    const { store } = this.#options;
    if (type === 'BOOKMARK') {
      this.#advance(object);
      return;
    }
    if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') {
      this.#noteOddity(`events of type ${type}`);
      return;
    }
    const transformed = this.#transform(object);
    if (!transformed) return;
    const { key, version, value, isUnreadable } = transformed;
    if (type === 'DELETED' || (value === undefined && !isUnreadable)) {
      this.#budget?.delete(key);
      store.delete(key, version, value);
    } else if (value !== undefined)
      store.set(key, { version, value: this.#budget?.fit(key, value) ?? value });
    this.#advance(object);
  }

  /** Reads reduced objects again that fit in the budget by now: one at a time, beside the watch. */
  async #readReduced(collection: Collection, signal: AbortSignal): Promise<void> {
    if (this.#isReadingReduced) return;
    const { client, clock } = this.#options;
    this.#isReadingReduced = true;
    for (let key = this.#budget?.findFitting(); key !== undefined; key = this.#budget?.findFitting()) {
      let isRead = false;
      const visit = (object: unknown) => {
        isRead ||= this.#setAgain(object);
      };
      try {
        await listCollection(client, selectOne(collection, key), { signal, visit });
        if (!isRead) this.#budget?.leaveReduced(key); // deleted, or unreadable
      } catch {
        await clock.sleep(BACKOFF.maxMs, { signal }).catch(() => {});
        if (signal.aborted || this.#state !== 'watching') break; // a later event of the watch continues
      }
    }
    this.#isReadingReduced = false;
  }

  /** @returns whether the object could be read */
  #setAgain(object: unknown): boolean {
    const { store } = this.#options;
    const transformed = this.#transform(object);
    if (transformed?.value === undefined) return false;
    const { key, version, value } = transformed;
    const cached = store.getVersioned(key);
    if (cached && !(version < cached.version))
      store.setAgain(key, { version, value: this.#budget?.fit(key, value) ?? value });
    return true;
  }

  /** @returns `undefined` for what has no name */
  #transform(object: unknown): TransformedObject<T> | undefined {
    const metadata = objectMetadata(object);
    if (!metadata) {
      this.#noteOddity('objects without a name');
      return undefined;
    }
    try {
      return { ...metadata, value: this.#options.transform(object), isUnreadable: false };
    } catch (error) {
      this.#logUnreadable(metadata.key, error);
      return { ...metadata, value: undefined, isUnreadable: true };
    }
  }

  #logUnreadable(key: string, error: unknown): void {
    const { namespace = '' } = nameOfKey(key);
    const line = this.#unreadableLines.of(namespace).take(true);
    if (!line) return;
    const fields = { resource: this.#name, object: key, error: describeError(error), ...line };
    this.#options.logger.warning('Cannot read object; keeping the cached version', fields);
  }

  /** A later watch continues after the latest object; events that arrive out of order do not set it back. */
  #advance(object: unknown): void {
    const next = resourceVersionOf(object);
    if (next !== undefined && !(Number(next) < Number(this.#resourceVersion))) this.#resourceVersion = next;
  }

  #noteOddity(oddity: string): void {
    if (this.#oddities.has(oddity)) return;
    this.#oddities.add(oddity);
    this.#options.logger.warning(`Ignoring ${oddity}`, { resource: this.#name });
  }

  #succeed(): void {
    this.#failures.succeed({ resource: this.#name });
  }

  /** Logs a failure when it begins and when its reason changes, and waits for the next attempt. */
  async #pause(error: unknown, signal: AbortSignal): Promise<void> {
    const { clock, store } = this.#options;
    if (!isExpired(error)) this.#failures.fail(error, { resource: this.#name, cached: store.size });
    const retryAfterMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
    const delayMs = Math.max(this.#backoff.next(), Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
    await clock.sleep(delayMs, { signal }).catch(() => {}); // aborted: the loop ends
  }
}

function isForbidden(error: unknown): boolean {
  return error instanceof ApiError && error.statusCode === 403;
}

export function nameOfCollection(collection: Collection | LocatedCollection): string {
  return 'locate' in collection ? collection.resource : resourceOf(collection);
}

function selectOne(collection: Collection, key: string): Collection {
  const { namespace, name } = nameOfKey(key);
  const terms = [collection.fieldSelector, `metadata.name=${name}`];
  if (namespace !== undefined) terms.push(`metadata.namespace=${namespace}`);
  return { ...collection, fieldSelector: terms.filter(Boolean).join(',') };
}

/** Whether the same watch may be retried: no response came, or the server is only busy. */
function canResume(error: unknown): boolean {
  if (error instanceof ApiError) return error.statusCode === 429 || error.statusCode === 503;
  return !(error instanceof MalformedResponse);
}
