import type { Collection } from '#lib/collection/collection.ts';
import { PacedKeys } from '#lib/concurrency/paced-keys.ts';
import { TokenBuckets } from '#lib/concurrency/token-buckets.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { PreparedTrigger } from '../preparation/prepared-triggers.ts';
import type { PushSource } from '../triggers/trigger.ts';

interface PushScalerStreamsOptions {
  readonly clock: Clock;
  /** Polls the metrics of triggers that were pushed. */
  readonly collection: Pick<Collection, 'pollNow'>;
}

/** Effects of a push. */
export interface PushActions {
  /** Called for every push; must be cheap. */
  readonly onPushed?: () => void;
  /** Polls all metrics of the owner, not only those of the triggers that were pushed. */
  readonly pollsAll?: true;
}

interface Stream {
  readonly ended: AbortController;
  triggers: readonly PreparedTrigger[];
  pushedAtMs: number | undefined;
}

interface Owner {
  readonly streams: ReadonlyMap<string, Stream>;
  readonly triggers: readonly PreparedTrigger[];
  readonly actions: PushActions;
  /** Streams that have pushed since the owner was polled last. */
  readonly pushed: Set<Stream>;
}

/** A push counts as active for this time, even without a poll. */
const COUNTS_MS = 5000;
/** All pushes for an owner within this time cause one poll. */
const MIN_PAUSE_MS = 1000;
/** Polled metrics per namespace; further pushes wait and are coalesced. */
const POLLS = { perSecond: 20, burst: 100 };

/**
 * Subscribes to the push sources of objects. A push counts at once; its polls are coalesced by owner and limited by a budget
 * for each namespace, so that a flood of pushes costs no more than a few.
 */
export class PushScalerStreams implements Disposable {
  readonly #options: PushScalerStreamsOptions;
  readonly #owners = new Map<string, Owner>();
  /** By namespace. */
  readonly #budgets: TokenBuckets;
  readonly #polls: PacedKeys;

  constructor(options: PushScalerStreamsOptions) {
    this.#options = options;
    this.#budgets = new TokenBuckets({ clock: options.clock, ...POLLS });
    this.#polls = new PacedKeys({
      clock: options.clock,
      pauseMs: (owner) => this.#pauseMs(owner),
      release: (owner) => this.#poll(owner),
    });
  }

  /** Sets the push sources of an owner (`namespace/name`): ends other subscriptions and retains existing ones. */
  replace(key: string, triggers: readonly PreparedTrigger[], actions: PushActions): void {
    const before = this.#owners.get(key);
    const left = new Map(before?.streams);
    const streams = new Map<string, Stream>();
    for (const { push } of triggers) {
      if (!push || streams.has(push.key)) continue;
      const stream = left.get(push.key) ?? this.#subscribe(key, push);
      stream.triggers = triggers.filter((trigger) => trigger.push?.key === push.key);
      streams.set(push.key, stream);
      left.delete(push.key);
    }
    for (const { ended } of left.values()) ended.abort(new Error('unsubscribed'));
    if (streams.size > 0) {
      const pushed = new Set(streams.values().filter((stream) => before?.pushed.has(stream)));
      this.#owners.set(key, { streams, triggers, actions, pushed });
    } else if (before) {
      this.#owners.delete(key);
      this.#polls.delete(key);
    }
  }

  /** Whether the source of a trigger has pushed within the last 5 s. */
  isPushed(owner: string, { push }: Pick<PreparedTrigger, 'push'>): boolean {
    const pushedAtMs = push && this.#owners.get(owner)?.streams.get(push.key)?.pushedAtMs;
    return pushedAtMs !== undefined && this.#options.clock.monotonicMs() - pushedAtMs < COUNTS_MS;
  }

  [Symbol.dispose](): void {
    for (const owner of [...this.#owners.keys()]) this.replace(owner, [], {});
    this.#polls[Symbol.dispose]();
  }

  #subscribe(key: string, push: PushSource): Stream {
    const stream: Stream = { ended: new AbortController(), triggers: [], pushedAtMs: undefined };
    const onActive = () => {
      const owner = this.#owners.get(key);
      if (!owner || stream.ended.signal.aborted) return;
      stream.pushedAtMs = this.#options.clock.monotonicMs();
      owner.pushed.add(stream);
      owner.actions.onPushed?.();
      this.#polls.add(key);
    };
    void push.subscribe(onActive, stream.ended.signal).catch(() => {}); // rejects when the signal aborts
    return stream;
  }

  #poll(key: string): void {
    const owner = this.#owners.get(key);
    if (!owner) return;
    for (const metricName of polledMetrics(owner)) this.#options.collection.pollNow(key, metricName);
    owner.pushed.clear();
  }

  #pauseMs(key: string): number {
    const owner = this.#owners.get(key);
    if (!owner || owner.pushed.size === 0) return 0;
    const [namespace = ''] = key.split('/');
    const budget = this.#budgets.get(namespace);
    let pauseMs = MIN_PAUSE_MS;
    for (const _ of polledMetrics(owner)) pauseMs = Math.max(pauseMs, budget.reserve());
    return pauseMs;
  }
}

function polledMetrics({ actions, triggers, pushed }: Owner): readonly string[] {
  const polled = actions.pollsAll ? triggers : [...pushed].flatMap((stream) => stream.triggers);
  return polled.flatMap(({ metrics }) => metrics.map(({ metricName }) => metricName));
}
