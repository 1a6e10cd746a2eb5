import { FailureLog } from '#lib/telemetry/failure-log.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { type ApiResource, formatApiVersion } from '../client/api-resource.ts';
import type { RestMapper } from '../client/rest-mapper.ts';

/** A kind of objects, and the supported versions of its group. */
interface VersionedKind {
  readonly group: string;
  readonly kind: string;
  /** In order of preference. */
  readonly versions: readonly string[];
}

interface WaitUntilServedOptions {
  readonly mapper: Pick<RestMapper, 'findExact'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

const DISCOVERY_POLL_MS = 10_000;

/**
 * Waits until the API server serves a kind, and logs once that it waits: a missing definition may be installed at any
 * time.
 *
 * @returns the resource, in the first supported version that is served
 * @throws the signal's reason when it aborts first
 */
export async function waitUntilServed(
  { group, kind, versions }: VersionedKind,
  { mapper, clock, logger, signal }: WaitUntilServedOptions,
): Promise<ApiResource> {
  const apiVersions = versions.map((version) => formatApiVersion({ group, version }));
  const fields = { kind, apiVersion: apiVersions.join(', ') };
  const failures = new FailureLog({
    logger,
    failing: 'Cannot discover kinds of the API server; retrying',
    recovered: 'The API server serves the kind now',
    causeOf: (error) => (error === NOT_SERVED ? 'absent' : 'failing'),
    lineOf: (error) => (error === NOT_SERVED ? WAITING_FOR_KIND : undefined),
  });
  for (;;) {
    try {
      for (const apiVersion of apiVersions) {
        const resource = await mapper.findExact({ apiVersion, kind }, signal);
        if (!resource) continue;
        failures.succeed(fields);
        return resource;
      }
      failures.fail(NOT_SERVED, fields);
    } catch (error) {
      signal.throwIfAborted();
      failures.fail(error, fields);
    }
    await clock.sleep(DISCOVERY_POLL_MS, { signal });
  }
}

const NOT_SERVED = new Error('the API server does not serve the kind');
const WAITING_FOR_KIND = {
  level: 'info',
  message: 'Waiting for a kind that the API server does not serve',
} as const;
