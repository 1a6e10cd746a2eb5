import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Starts an action every `everyMs` for `forMs`, even if earlier ones are still running, so that a slow server does not
 * get fewer requests. Returns when all have ended, and not before `forMs`.
 *
 * @throws the error of the first failed action; no further actions start after it
 */
export async function pace(
  { everyMs, forMs }: { readonly everyMs: number; readonly forMs: number },
  act: (index: number) => Promise<void>,
): Promise<void> {
  const startMs = performance.now();
  const actions: Promise<void>[] = [];
  const failures: unknown[] = [];
  for (let index = 0; index * everyMs < forMs && failures.length === 0; index++) {
    await sleepUntil(startMs + index * everyMs);
    actions.push(act(index).catch((error: unknown) => void failures.push(error)));
  }
  await Promise.all(actions);
  if (failures.length > 0) throw failures[0];
  await sleepUntil(startMs + forMs);
}

/** Timers truncate fractions of a millisecond, and count from the start of their event loop iteration. */
async function sleepUntil(momentMs: number): Promise<void> {
  for (let leftMs = momentMs - performance.now(); leftMs > 0; leftMs = momentMs - performance.now())
    await sleep(Math.ceil(leftMs));
}
