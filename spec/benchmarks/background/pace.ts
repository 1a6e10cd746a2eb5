import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Acts every `everyMs` for `forMs`, whether or not the actions before have ended, so that who is slow is not asked
 * less. Ends when all have, and not before `forMs`.
 *
 * @throws what the first action that fails does; no more begin once that is known
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

/** Timers cut off fractions of a millisecond, and count from the start of their turn of the event loop. */
async function sleepUntil(momentMs: number): Promise<void> {
  for (let leftMs = momentMs - performance.now(); leftMs > 0; leftMs = momentMs - performance.now())
    await sleep(Math.ceil(leftMs));
}
