import { setImmediate as nextTurn } from 'node:timers/promises';
import { nameOfKey } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { FailureLog } from '#lib/telemetry/failure-log.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';
import { WorkQueue, type WorkQueueOptions } from './work-queue.ts';
import type { WorkQueueSeries } from './work-queue-series.ts';

/** Result of reconciling a key. */
export interface ReconcileResult {
  /** Delay after which to reconcile the key again without a change. */
  readonly requeueAfterMs?: number | undefined;
}

/** Nothing to do until something changes. */
export const DONE: ReconcileResult = {};

/** A source of changes for a controller, such as an informer. */
export interface Watched {
  /**
   * Calls the listener with the key of every existing object, and of every change; returns a function that unsubscribes
   * it.
   */
  onChange(
    listener: (change: { readonly key: string }) => void,
    options: { readonly replay: true },
  ): () => void;
  /** Resolves once all existing objects are cached. */
  synced(signal: AbortSignal): Promise<void>;
}

/**
 * Makes the cluster match the desired state, one object at a time.
 *
 * It is level-triggered: it reconciles the current state, whatever has changed and however often it is called.
 */
export interface Controller {
  /** In lower case, for logs and series. */
  readonly name: string;
  /** A change in one of these reconciles its key. */
  readonly watches: readonly Watched[];
  /**
   * Observes the current state, computes the desired one, and writes the difference.
   *
   * @param key from `keyOf`; the object may have been deleted
   * @param signal aborts when this process must no longer act, or the deadline passes
   * @throws the failure: the key is retried with exponential backoff
   */
  reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult>;
}

/** A source of changes for {@link mapKeys}, such as an informer. */
export interface ChangeSource<Change> {
  onChange(listener: (change: Change) => void, options: { readonly replay: true }): () => void;
  synced(signal: AbortSignal): Promise<void>;
}

/**
 * Reconciles other keys than those of the changed objects, such as those of their owners.
 *
 * @param keysOf the keys to reconcile after a change; both the previous and the current object may count
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

export interface RunControllerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends the run: aborts current reconciles, and begins no others. */
  readonly signal: AbortSignal;
  /** Maximum number of concurrent reconciles, of which each namespace leaves some for others; by default 1. */
  readonly workers?: number;
  /** Deadline of one reconcile; by default 60 s. */
  readonly deadlineMs?: number;
  readonly series?: WorkQueueSeries | undefined;
  readonly queue?: Pick<WorkQueueOptions, 'baseDelayMs' | 'maxDelayMs' | 'failureLimit'>;
}

const DEADLINE_MS = 60_000;

/**
 * Runs a controller until its signal aborts: waits until all its sources are synced, and reconciles each key that
 * exists, is added, or changes.
 *
 * @returns once no reconcile is in progress
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
  const slice = { startMs: clock.monotonicMs() };
  const working = Array.from({ length: workers }, () =>
    work(controller, { queue, failures, options, slice }),
  );
  await raceAbort(new Promise<never>(() => {}), signal).catch(() => {});
  for (const end of leave) end();
  await queue.shutDown();
  await Promise.all(working);
}

interface WorkOptions {
  readonly queue: WorkQueue;
  readonly failures: KeyFailures;
  readonly options: RunControllerOptions;
  /** When one of the workers last let other work of the process run. */
  readonly slice: { startMs: number };
}

/** After as long, a worker lets other work of the process run. */
const SLICE_MS = 2;

/** Thousands of reconciles that send no request, as after an election, would otherwise run in one turn of the event loop. */
async function work(controller: Controller, context: WorkOptions): Promise<void> {
  const { queue, options, slice } = context;
  const { clock } = options;
  for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
    await reconcileKey(controller, key, context);
    if (clock.monotonicMs() - slice.startMs < SLICE_MS) continue;
    await nextTurn();
    slice.startMs = clock.monotonicMs();
  }
}

/**
 * Resolves when the key is reconciled, or its deadline has passed; the key remains in progress as long as its reconcile
 * does.
 */
async function reconcileKey(
  controller: Controller,
  key: string,
  { queue, failures, options }: WorkOptions,
): Promise<void> {
  const { clock, signal, deadlineMs = DEADLINE_MS } = options;
  const expired = () => new Error(`not reconciled within ${formatDuration(deadlineMs)}`);
  using deadline = startDeadline(clock, deadlineMs, { signal, expired });
  let isOver = false;
  const reconcile = async () => {
    try {
      return await controller.reconcile(key, deadline.signal);
    } finally {
      isOver = true;
    }
  };
  const running = reconcile();
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
    queue.leave(key); // the worker continues without it
  }
}

interface KeyFailuresOptions {
  readonly controller: string;
  readonly logger: Logger;
}

/** Maximum number of failing keys to log individually, of which each namespace leaves some for others. */
const MAX_NAMED = 1000;

/** Logs for each key once that it fails, once whenever the reason changes, and once that it succeeds again. */
export class KeyFailures {
  readonly #options: KeyFailuresOptions;
  readonly #failing = new Map<string, FailureLog>();
  /** Number of failing keys of each namespace. */
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
      const failing = 'Cannot reconcile object; retrying';
      log = new FailureLog({ logger, failing, recovered: 'Reconciled object again', causeOf: describeError });
      this.#failing.set(key, log);
    }
    log.fail(error, { controller, key });
  }

  /** Forgets all other keys, which have been deleted or are no longer retried. */
  retainOnly(keys: ReadonlySet<string>): void {
    for (const key of this.#failing.keys()) if (!keys.has(key)) this.#remove(key);
  }

  succeed(key: string): void {
    this.#failing.get(key)?.succeed({ controller: this.#options.controller, key });
    this.#remove(key);
  }

  #remove(key: string): void {
    if (!this.#failing.delete(key)) return;
    const count = (this.#counts.get(namespaceOf(key)) ?? 0) - 1;
    if (count > 0) this.#counts.set(namespaceOf(key), count);
    else this.#counts.delete(namespaceOf(key));
  }
}

function namespaceOf(key: string): string {
  return nameOfKey(key).namespace ?? '';
}
