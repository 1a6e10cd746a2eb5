import type { Logger } from '#lib/telemetry/logger.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { Controller } from './controller.ts';
import { KeyFailures } from './key-failures.ts';
import { WorkQueue, type WorkQueueOptions } from './queue/work-queue.ts';
import type { WorkQueueSeries } from './queue/work-queue-series.ts';

/** How a controller is run. */
export interface RunControllerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends the run: what is being reconciled is told, and nothing new begins. */
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
