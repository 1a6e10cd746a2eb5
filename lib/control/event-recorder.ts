import { randomBytes } from 'node:crypto';
import { LruMap } from '#lib/cache/lru-map.ts';
import { TokenBucket } from '#lib/concurrency/token-bucket.ts';
import { TokenBuckets } from '#lib/concurrency/token-buckets.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ApiError, isAlreadyExists, isNotFound } from '#lib/kubernetes/client/api-error.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import type { ObjectReference } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { formatTimestamp } from '#lib/time/timestamp.ts';

import { formatMicroTime } from './lease.ts';
import { WorkQueue } from './work-queue.ts';

interface EventRecorderOptions {
  /** Not the client of controllers: events must not consume its rate limit. */
  readonly api: ApiClient;
  readonly mapper: RestMapper;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly source: EventSource;
}

/** An event that repeats within this time is counted in the same series. */
const SERIES_MS = 360_000;
/** Interval of writing the count of an event. */
const UPDATE_INTERVAL_MS = 10_000;
/** Maximum number of recorded events, of which each namespace leaves some for others; further ones are dropped. */
const MAX_EVENTS = 1_000;
/** Rate of new events of one object: a burst of 25, then one in five minutes. */
const OBJECT_LIMIT = { burst: 25, perSecond: 1 / 300 };
const MAX_OBJECTS = 1_000;
/** Rate of new events of one namespace: a burst as large as its share of recorded events, then ten a second. */
const NAMESPACE_LIMIT = { burst: 500, perSecond: 10 };
const MAX_ATTEMPTS = 5;
const WRITE_TIMEOUT_MS = 10_000;
const DROP_LOG_INTERVAL_MS = 60_000;

interface RecordedEvent {
  facts: CountedEvent;
  /** Its count when it was last written; 0 before. */
  writtenCount: number;
  writtenAtMs: number;
}

/**
 * Records what was done to objects as events in the API server. Recording only takes memory, which is bounded; events
 * that cannot be written are dropped.
 */
export class EventRecorder implements AsyncDisposable {
  readonly #options: EventRecorderOptions;
  readonly #queue: WorkQueue;
  readonly #events = new Map<string, RecordedEvent>();
  /** Number of recorded events of each namespace. */
  readonly #counts = new Map<string, number>();
  readonly #limits = new LruMap<string, TokenBucket>({ max: MAX_OBJECTS });
  readonly #namespaceLimits: TokenBuckets;
  readonly #disposal = new AbortController();
  readonly #writing: Promise<void>;
  #dropped = 0;
  #droppedBeforeLog = 0;
  #dropLoggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#namespaceLimits = new TokenBuckets({ clock: options.clock, ...NAMESPACE_LIMIT });
    this.#queue = new WorkQueue({
      ...{ clock: options.clock, baseDelayMs: 1_000, maxDelayMs: 30_000 },
      tenantOf: (key) => tenantOf(this.#events.get(key)?.facts),
    });
    this.#writing = this.#write();
  }

  /** Number of dropped events: there were too many, or the API server refused them. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Records an event, to be written soon; an identical one only increases its count. Never throws. */
  record(event: EventFacts): void {
    const { clock } = this.#options;
    const facts = { ...event, message: eventMessage(event.message) }; // retained for long; may be as long as an object
    const key = keyOf(facts);
    const recorded = this.#events.get(key);
    const nowMs = clock.nowMs();
    if (recorded && clock.monotonicMs() - recorded.writtenAtMs < SERIES_MS) {
      this.#events.delete(key); // move to the end: the least recently recorded is evicted first
      this.#events.set(key, recorded);
      recorded.facts = { ...recorded.facts, count: recorded.facts.count + 1, lastObservedAtMs: nowMs };
      // One that was not written yet is queued, or waits for its retry.
      if (recorded.writtenCount > 0) {
        this.#queue.addAfter(key, recorded.writtenAtMs + UPDATE_INTERVAL_MS - clock.monotonicMs());
      }
      return;
    }
    const tenant = tenantOf(facts);
    const isWithinRate = this.#limitOf(facts).tryTake() && this.#namespaceLimits.get(tenant).tryTake();
    if (!isWithinRate || !this.#makeSpace(tenant)) {
      this.#drop(facts, 'too many events');
      return;
    }
    const counted = {
      ...facts,
      name: nameOf(facts),
      count: 1,
      firstObservedAtMs: nowMs,
      lastObservedAtMs: nowMs,
    };
    this.#add(key, { facts: counted, writtenCount: 0, writtenAtMs: clock.monotonicMs() });
    this.#queue.add(key);
  }

  /** Aborts the current write, and drops the rest. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal.abort(new Error('recorder is closed'));
    await this.#queue.shutDown();
    await this.#writing;
  }

  async #write(): Promise<void> {
    for (let key = await this.#queue.take(); key !== undefined; key = await this.#queue.take()) {
      const event = this.#events.get(key);
      try {
        if (event && event.writtenCount < event.facts.count) await this.#send(event);
        this.#queue.forget(key);
      } catch (error) {
        this.#retryOrDrop(key, error);
      }
      this.#queue.done(key);
    }
  }

  async #send(event: RecordedEvent): Promise<void> {
    const { api, mapper, clock, source } = this.#options;
    const { signal } = this.#disposal;
    const resource =
      (await mapper.findExact({ apiVersion: 'events.k8s.io/v1', kind: 'Event' }, signal)) ??
      (await mapper.findExact({ apiVersion: 'v1', kind: 'Event' }, signal));
    if (!resource) throw new Error('the API server does not serve events');
    const client = new ResourceClient({ api, resource });
    const options = { signal, timeoutMs: WRITE_TIMEOUT_MS };
    const { facts, writtenCount } = event;
    if (writtenCount > 0) {
      const body = seriesOf(facts, resource.group);
      const target = { namespace: eventNamespace(facts), name: facts.name };
      await client.patch(target, { type: 'merge', body }, options);
    } else {
      await client.create(eventObject(facts, source, resource.group), options);
    }
    event.writtenCount = facts.count;
    event.writtenAtMs = clock.monotonicMs();
  }

  #retryOrDrop(key: string, error: unknown): void {
    if (this.#disposal.signal.aborted) return;
    const event = this.#events.get(key);
    if (event && (isNotFound(error) || isAlreadyExists(error))) {
      // It expired, or its name is taken: create it again.
      event.facts = { ...event.facts, name: nameOf(event.facts) };
      event.writtenCount = 0;
    } else if (error instanceof ApiError && error.statusCode < 500 && error.statusCode !== 429) {
      this.#giveUp(key, error);
      return;
    }
    if (this.#queue.failuresOf(key) + 1 >= MAX_ATTEMPTS) this.#giveUp(key, error);
    else this.#queue.addRateLimited(key);
  }

  #giveUp(key: string, error: unknown): void {
    const event = this.#events.get(key);
    this.#remove(key);
    this.#queue.forget(key);
    if (event) this.#drop(event.facts, 'the API server refuses events', error);
  }

  #limitOf({ regarding }: EventFacts): TokenBucket {
    const { apiVersion, kind, namespace = '', name, uid = '' } = regarding;
    const object = [apiVersion, kind, namespace, name, uid].join('\n');
    return this.#limits.getOrSet(
      object,
      () => new TokenBucket({ clock: this.#options.clock, ...OBJECT_LIMIT }),
    );
  }

  /**
   * Evicts the least recently recorded event, unless it is still to be written; one of the same namespace if that has
   * used its share.
   */
  #makeSpace(tenant: string): boolean {
    const free = MAX_EVENTS - this.#events.size;
    const isAtShare = (this.#counts.get(tenant) ?? 0) >= free && free > 0;
    if (free > 0 && !isAtShare) return true;
    for (const [key, { facts, writtenCount }] of this.#events) {
      if (writtenCount < facts.count || (isAtShare && tenantOf(facts) !== tenant)) continue;
      this.#remove(key);
      return true;
    }
    return false;
  }

  #add(key: string, event: RecordedEvent): void {
    const tenant = tenantOf(event.facts);
    if (!this.#events.has(key)) this.#counts.set(tenant, (this.#counts.get(tenant) ?? 0) + 1);
    this.#events.delete(key); // move to the end
    this.#events.set(key, event);
  }

  #remove(key: string): void {
    const event = this.#events.get(key);
    if (!event) return;
    this.#events.delete(key);
    const tenant = tenantOf(event.facts);
    const count = (this.#counts.get(tenant) ?? 0) - 1;
    if (count > 0) this.#counts.set(tenant, count);
    else this.#counts.delete(tenant);
  }

  /** Logs at most once a minute, with the number of events since the last line. */
  #drop({ regarding, reason }: EventFacts, why: string, error?: unknown): void {
    const { clock, logger, source } = this.#options;
    this.#dropped++;
    if (clock.monotonicMs() - this.#dropLoggedAtMs < DROP_LOG_INTERVAL_MS) return;
    this.#dropLoggedAtMs = clock.monotonicMs();
    const { kind, namespace, name } = regarding;
    const object = `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
    const dropped = this.#dropped - this.#droppedBeforeLog;
    this.#droppedBeforeLog = this.#dropped;
    const fields = {
      controller: source.controller,
      why,
      dropped,
      latestObject: object,
      latestReason: reason,
    };
    if (error === undefined) logger.warning('Dropped events', fields);
    else logger.error('Dropped events', error, fields);
  }
}

/** The tenant of an event, since namespaces share the recorder. */
function tenantOf(facts: EventFacts | undefined): string {
  return facts?.regarding.namespace ?? '';
}

function keyOf({ regarding, type, reason, action, message }: EventFacts): string {
  const { apiVersion, kind, namespace, name, uid } = regarding;
  return JSON.stringify([apiVersion, kind, namespace, name, uid, type, reason, action, message]);
}

/** The object's name and a random suffix, within the maximum length of names. */
function nameOf({ regarding: { name } }: EventFacts): string {
  let end = Math.min(name.length, 236);
  while (end > 0 && /[.-]/.test(name[end - 1] ?? '')) end--;
  return `${name.slice(0, end)}.${randomBytes(8).toString('hex')}`;
}

/** The facts of an event. */
export interface EventFacts {
  readonly regarding: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  /** In CamelCase, such as `Scaled`. */
  readonly reason: string;
  /** The action in CamelCase, such as `Scale`. */
  readonly action: string;
  /** For people; truncated to 1,024 bytes. */
  readonly message: string;
}

export type EventText = Pick<EventFacts, 'type' | 'reason' | 'message'>;

/** The reporter of events. */
interface EventSource {
  /** Such as `autoscaler`. */
  readonly controller: string;
  /** Unique for this process. */
  readonly instance: string;
}

/** An event with its count and times. */
interface CountedEvent extends EventFacts {
  readonly name: string;
  readonly count: number;
  readonly firstObservedAtMs: number;
  readonly lastObservedAtMs: number;
}

/** Limit of the API server. */
const MAX_MESSAGE_BYTES = 1024;
const MAX_WORD_LENGTH = 128;

/** The namespace of an event: that of its object, or `default` for cluster-scoped objects. */
function eventNamespace({ regarding }: EventFacts): string {
  return regarding.namespace || 'default';
}

/** Truncates a message to the limit of the API server. */
function eventMessage(text: string): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= MAX_MESSAGE_BYTES) return text;
  // A truncated character decodes as U+FFFD, which is removed.
  const cut = bytes.subarray(0, MAX_MESSAGE_BYTES - 3).toString('utf8');
  return `${cut.replace(/\ufffd$/, '')}…`;
}

/** The event in the form of the group `events.k8s.io`, or of the core group where that is not served. */
function eventObject(event: CountedEvent, source: EventSource, group: string) {
  const { name, type } = event;
  const common = {
    metadata: { name, namespace: eventNamespace(event) },
    type,
    reason: event.reason.slice(0, MAX_WORD_LENGTH),
    action: event.action.slice(0, MAX_WORD_LENGTH),
    reportingInstance: source.instance.slice(0, MAX_WORD_LENGTH),
  };
  const object = referenceTo(event.regarding);
  if (group === '') {
    return {
      ...common,
      ...seriesOf(event, group),
      involvedObject: object,
      message: event.message,
      source: { component: source.controller },
      reportingComponent: source.controller,
      firstTimestamp: formatTimestamp(event.firstObservedAtMs),
    };
  }
  return {
    ...common,
    ...(event.count > 1 ? seriesOf(event, group) : {}),
    regarding: object,
    note: event.message,
    reportingController: source.controller,
    eventTime: formatMicroTime(event.firstObservedAtMs),
  };
}

/** The fields that change when an event repeats. */
function seriesOf({ count, lastObservedAtMs }: CountedEvent, group: string): object {
  if (group === '') return { count, lastTimestamp: formatTimestamp(lastObservedAtMs) };
  return { series: { count, lastObservedTime: formatMicroTime(lastObservedAtMs) } };
}

function referenceTo({ apiVersion, kind, namespace, name, uid, resourceVersion }: ObjectReference): object {
  return {
    apiVersion,
    kind,
    name,
    ...(namespace && { namespace }),
    ...(uid && { uid }),
    ...(resourceVersion && { resourceVersion }),
  };
}
