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

/** What a push does. */
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

/** For so long what was pushed counts by itself. */
const COUNTS_MS = 5000;
/** What an owner's streams push within this time is polled once. */
const MIN_PAUSE_MS = 1000;
/** How many metrics of a namespace pushes have polled: what is beyond this waits, and is polled once however often it is pushed. */
const POLLS = { perSecond: 20, burst: 100 };

/**
 * Subscribes to the sources of objects that push. A push counts at once; the polls that it causes coalesce by owner and
 * have a budget for each namespace, so that a flood of pushes costs no more than a steady trickle.
 */
export class PushScalerStreams implements Disposable {
  readonly #options: PushScalerStreamsOptions;
  readonly #owners = new Map<string, Owner>();
  /** By namespaces. */
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

  /** Subscribes to these sources of an owner (`namespace/name`), and to no others of its; one that is subscribed to goes on. */
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
    for (const { ended } of left.values()) ended.abort(new Error('nobody wants to know any more'));
    if (streams.size > 0) {
      const pushed = new Set(streams.values().filter((stream) => before?.pushed.has(stream)));
      this.#owners.set(key, { streams, triggers, actions, pushed });
    } else if (before) {
      this.#owners.delete(key);
      this.#polls.delete(key);
    }
  }

  /** Whether the source of a trigger has pushed just now that there is something to do. */
  isPushed(owner: string, { push }: Pick<PreparedTrigger, 'push'>): boolean {
    const pushedAtMs = push && this.#owners.get(owner)?.streams.get(push.key)?.pushedAtMs;
    return pushedAtMs !== undefined && this.#options.clock.monotonicMs() - pushedAtMs < COUNTS_MS;
  }

  /** Ends all subscriptions. */
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
    void push.subscribe(onActive, stream.ended.signal).catch(() => {}); // it ends with the signal
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
