import type { ServerResponse } from 'node:http';
import type { Clock } from '#lib/time/clock.ts';
import type { ApiFault } from './api-fault.ts';

/** Tells watches everything late and in its order, as an API server does whose watch cache lags behind. */
export function delayWatches(durationMs: number): ApiFault {
  return {
    serve: async ({ verb, response }, { clock, next }) => {
      if (verb === 'watch') delayLines(response, { durationMs, clock });
      await next();
    },
  };
}

interface Delay {
  readonly durationMs: number;
  readonly clock: Clock;
}

/** What is still to be told when the watch ends is lost with it: the watcher goes on from what it has seen. */
function delayLines(response: ServerResponse, { durationMs, clock }: Delay): void {
  const write = response.write.bind(response) as (chunk: string) => boolean;
  const pending = new Set<Disposable>();
  response.once('close', () => {
    for (const timer of pending) timer[Symbol.dispose]();
  });
  response.write = ((chunk: string) => {
    const timer = clock.startTimer(durationMs, () => {
      pending.delete(timer);
      if (!response.writableEnded) write(chunk);
    });
    pending.add(timer);
    return true;
  }) as typeof response.write;
}
