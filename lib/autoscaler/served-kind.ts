import type { KindReference, RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';

/** What {@link untilServed} works with. */
export interface ServedKindOptions {
  readonly mapper: Pick<RestMapper, 'findExact'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Who waits, as a log line names it. */
  readonly controller: string;
}

const LOOK_MS = 10_000;

/**
 * Waits until the API server serves a kind, and says once that it waits: whose definition is not there yet may be
 * installed at any time.
 *
 * @throws the signal's reason when it aborts first
 */
export async function untilServed(kind: KindReference, options: ServedKindOptions): Promise<void> {
  const { mapper, clock, logger, signal, controller } = options;
  const fields = { controller, kind: kind.kind, apiVersion: kind.apiVersion };
  let told: 'absent' | 'failing' | undefined;
  for (;;) {
    try {
      if (await mapper.findExact(kind, signal)) {
        if (told) logger.info('The API server serves the kind now', fields);
        return;
      }
      if (told !== 'absent') logger.info('Waiting for a kind that the API server does not serve', fields);
      told = 'absent';
    } catch (error) {
      signal.throwIfAborted();
      if (told !== 'failing')
        logger.error('Cannot ask which kinds the API server serves; it is tried again', error, fields);
      told = 'failing';
    }
    await clock.sleep(LOOK_MS, { signal });
  }
}
