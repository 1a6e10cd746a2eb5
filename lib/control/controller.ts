import { nameOfKey } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { FailureLog } from '#lib/telemetry/failure-log.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';
import { WorkQueue, type WorkQueueOptions } from './work-queue.ts';
import type { WorkQueueSeries } from './work-queue-metrics.ts';

/** What a controller says of a key that it has reconciled. */
export interface ReconcileResult {
  /** Has the key reconciled again after this long, though nothing changed. */
  readonly requeueAfterMs?: number | undefined;
}

/** Nothing is left to do until something changes. */
export const DONE: ReconcileResult = {};

/** Something whose changes a controller follows, as an informer does. */
export interface Watched {
  /** Calls back with the key of everything that is there, and of everything that changes; gives back what ends that. */
  onChange(
    listener: (change: { readonly key: string }) => void,
    options: { readonly replay: true },
  ): () => void;
  /** Comes back once all that is there is known. */
  synced(signal: AbortSignal): Promise<void>;
}

/**
 * Makes the world what objects say that it should be, one object at a time.
 *
 * It is level-triggered: reconciling works from what is there now, and it does not matter what has changed, how often
 * it is called, or whether it was called before.
 */
export interface Controller {
  /** In lower case, as logs and series name it. */
  readonly name: string;
  /** What has a key reconciled when it changes. */
  readonly watches: readonly Watched[];
  /**
   * Reads what is, works out what should be, and writes the difference.
   *
   * @param key as `keyOf` makes it; the object may be gone by now
   * @param signal aborts when this process may not act any more, or the work takes too long
   * @throws what went wrong: the key comes back, later from failure to failure
   */
  reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult>;
}

/** What {@link mapKeys} takes changes from, such as an informer. */
export interface ChangeSource<Change> {
  onChange(listener: (change: Change) => void, options: { readonly replay: true }): () => void;
  synced(signal: AbortSignal): Promise<void>;
}

/**
 * Has other keys reconciled than those of the objects that change: those of their owners, say.
 *
 * @param keysOf what is to be reconciled after a change; both what was and what is may count
 */
export function mapKeys<Change>(
  source: ChangeSource<Change>,
  keysOf: (change: Change) => Iterable<string>,
): Watched {
  return {
    onChange: (listener, options) =>
      source.onChange((change) => {
        for (const key of keysOf(change)) listener({ key });
      }, options),
    synced: (signal) => source.synced(signal),
  };
}

/** How a controller is run. */
export interface RunControllerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends the run: aborts what is being reconciled, and begins nothing new. */
  readonly signal: AbortSignal;
  /** How many keys are reconciled at once, of one namespace no more than it leaves free to others; by default 1. */
  readonly workers?: number;
  /** For how long one key may be reconciled; by default 60 s. */
  readonly deadlineMs?: number;
  readonly series?: WorkQueueSeries | undefined;
  readonly queue?: Pick<WorkQueueOptions, 'baseDelayMs' | 'maxDelayMs' | 'failureLimit'>;
}

const DEADLINE_MS = 60_000;

/**
 * Runs a controller until its signal aborts: waits until all that it watches is known, and has each key reconciled that
 * was there, is added, or changes.
 *
 * @returns once nothing is being reconciled any more
 */
export async function runController(controller: Controller, options: RunControllerOptions): Promise<void> {
  const { clock, logger, signal, workers = 1 } = options;
  try {
    for (const watched of controller.watches) await watched.synced(signal);
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  const queue = new WorkQueue({
    ...{ clock, workers },
    observer: options.series?.observe(controller.name),
    ...options.queue,
  });
  const failures = new KeyFailures({ controller: controller.name, logger });
  const leave = controller.watches.map((watched) =>
    watched.onChange(({ key }) => queue.add(key), { replay: true }),
  );
  const working = Array.from({ length: workers }, () => work(controller, { queue, failures, options }));
  await raceAbort(new Promise<never>(() => {}), signal).catch(() => {});
  for (const end of leave) end();
  await queue.shutDown();
  await Promise.all(working);
}

interface WorkOptions {
  readonly queue: WorkQueue;
  readonly failures: KeyFailures;
  readonly options: RunControllerOptions;
}

async function work(controller: Controller, { queue, failures, options }: WorkOptions): Promise<void> {
  for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
    await reconcileKey(controller, key, { queue, failures, options });
  }
}

/** Comes back when the key is reconciled, or its time is up; a key stays taken for as long as it is being reconciled. */
async function reconcileKey(
  controller: Controller,
  key: string,
  { queue, failures, options }: WorkOptions,
): Promise<void> {
  const { clock, signal, deadlineMs = DEADLINE_MS } = options;
  const expired = () => new Error(`not reconciled within ${formatDuration(deadlineMs)}`);
  using deadline = startDeadline(clock, deadlineMs, { signal, expired });
  let isOver = false;
  const running = call(controller, key, deadline.signal).finally(() => {
    isOver = true;
  });
  try {
    const { requeueAfterMs } = await raceAbort(running, deadline.signal);
    queue.forget(key);
    failures.succeed(key);
    if (requeueAfterMs !== undefined) queue.addAfter(key, requeueAfterMs);
  } catch (error) {
    if (!signal.aborted) {
      failures.fail(key, error);
      queue.addRateLimited(key);
    }
  }
  if (isOver) queue.done(key);
  else {
    void running.catch(() => {}).finally(() => queue.done(key));
    queue.leave(key); // the worker goes on without it
  }
}

/** What a controller throws at once is its failure, too. */
async function call(controller: Controller, key: string, signal: AbortSignal) {
  return await controller.reconcile(key, signal);
}

/** Whose failures are logged, and where. */
interface KeyFailuresOptions {
  readonly controller: string;
  readonly logger: Logger;
}

/** Of more keys than these that fail at once, the others are not logged; of one namespace, no more than it leaves free to others. */
const MAX_NAMED = 1000;

/** Tells of each key once that it fails, once whenever the reason changes, and once that it is well again. */
export class KeyFailures {
  readonly #options: KeyFailuresOptions;
  readonly #failing = new Map<string, FailureLog>();
  /** How many of them each namespace has. */
  readonly #counts = new Map<string, number>();

  constructor(options: KeyFailuresOptions) {
    this.#options = options;
  }

  fail(key: string, error: unknown): void {
    const { controller, logger } = this.#options;
    let log = this.#failing.get(key);
    if (!log) {
      const count = this.#counts.get(namespaceOf(key)) ?? 0;
      if (count >= MAX_NAMED - this.#failing.size) return;
      this.#counts.set(namespaceOf(key), count + 1);
      const failing = 'Cannot reconcile; it is tried again';
      log = new FailureLog({ logger, failing, recovered: 'Reconciled again', causeOf: describeError });
      this.#failing.set(key, log);
    }
    log.fail(error, { controller, key });
  }

  /** Forgets all keys but these: what is gone, or no longer tried, fails no more. */
  keepOnly(keys: ReadonlySet<string>): void {
    for (const key of this.#failing.keys()) if (!keys.has(key)) this.#forget(key);
  }

  succeed(key: string): void {
    this.#failing.get(key)?.succeed({ controller: this.#options.controller, key });
    this.#forget(key);
  }

  #forget(key: string): void {
    if (!this.#failing.delete(key)) return;
    const count = (this.#counts.get(namespaceOf(key)) ?? 0) - 1;
    if (count > 0) this.#counts.set(namespaceOf(key), count);
    else this.#counts.delete(namespaceOf(key));
  }
}

function namespaceOf(key: string): string {
  return nameOfKey(key).namespace ?? '';
}
