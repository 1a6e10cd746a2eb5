import { FailureLog } from '#lib/telemetry/failure-log.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ApiClient } from '../client/api-client.ts';
import { ApiError } from '../client/api-error.ts';
import { type ApiResource, collectionPath, formatApiVersion } from '../client/api-resource.ts';
import type { KindReference, RestMapper } from '../client/rest-mapper.ts';

/** A kind of objects, and the versions of its group in which it can be read. */
export interface VersionedKind {
  readonly group: string;
  readonly kind: string;
  /** The preferred one first. */
  readonly versions: readonly string[];
}

/** What {@link waitUntilServed} works with. */
interface WaitUntilServedOptions {
  readonly mapper: Pick<RestMapper, 'findExact'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

const DISCOVERY_POLL_MS = 10_000;

/**
 * Waits until the API server serves a kind, and logs once that it waits: a definition that is missing may be installed at
 * any time.
 *
 * @returns where the kind is served, in the first of its versions that is
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
    failing: 'Cannot discover which kinds the API server serves; it is tried again',
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

/** What {@link untilServed} works with. */
interface ServedKindOptions {
  readonly mapper: Pick<RestMapper, 'findExact'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Who waits, as a log line names it. */
  readonly controller: string;
}

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
    await clock.sleep(DISCOVERY_POLL_MS, { signal });
  }
}

/** What {@link untilAllowed} works with. */
interface AllowedKindsOptions {
  readonly client: Pick<ApiClient, 'getJson'>;
  /** Where objects are to be listed; everywhere if there are none. */
  readonly namespaces: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Who waits, as a log line names it. */
  readonly controller: string;
}

const ACCESS_POLL_MS = 30_000;
const FORBIDDEN = 403;

/**
 * Waits until kinds may be listed, and says once what is missing: a permission may be given at any time, and what else the
 * program does needs none of these.
 *
 * @throws the signal's reason when it aborts first
 */
export async function untilAllowed(
  resources: readonly ApiResource[],
  { client, namespaces, clock, logger, signal, controller }: AllowedKindsOptions,
): Promise<void> {
  const paths = resources.flatMap((resource) => {
    const places = resource.namespaced && namespaces.length > 0 ? new Set(namespaces) : [undefined];
    return [...places].map((namespace) => collectionPath(resource, namespace));
  });
  const failures = new FailureLog({
    logger,
    failing: 'Cannot ask whether objects may be listed; it is tried again',
    recovered: 'The API server lets objects be listed now',
    causeOf: (error) => (isForbidden(error) ? 'forbidden' : 'failing'),
    lineOf: (error) =>
      isForbidden(error) ? { level: 'error', message: 'Waiting for permission to list objects' } : undefined,
  });
  while (paths.length > 0) {
    const [path = ''] = paths;
    try {
      await client.getJson(`${path}?limit=1`, { signal });
      paths.shift();
      continue;
    } catch (error) {
      signal.throwIfAborted();
      failures.fail(error, { controller, path });
    }
    await clock.sleep(ACCESS_POLL_MS, { signal });
  }
  failures.succeed({ controller });
}

function isForbidden(error: unknown): boolean {
  return error instanceof ApiError && error.statusCode === FORBIDDEN;
}

/** What {@link findHpas} works with. */
interface FindHpasOptions {
  readonly mapper: Pick<RestMapper, 'findExact'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

export const HPA_KIND = 'HorizontalPodAutoscaler';
/** Those that know metrics, the one first that is asked for where there are both. */
export const HPA_VERSIONS = ['autoscaling/v2', 'autoscaling/v2beta2'];
const LOOK_MS = 10_000;

/**
 * Where HPAs are served in a version that knows metrics; asked for until there is one, and said once where there is none.
 *
 * @throws the signal's reason when it aborts first
 */
export async function findHpas({ mapper, clock, logger, signal }: FindHpasOptions): Promise<ApiResource> {
  let told: 'absent' | 'failing' | undefined;
  for (;;) {
    try {
      for (const apiVersion of HPA_VERSIONS) {
        const resource = await mapper.findExact({ apiVersion, kind: HPA_KIND }, signal);
        if (resource) return resource;
      }
      if (told !== 'absent')
        logger.warning('The API server serves no HPAs that know metrics; they are waited for', {});
      told = 'absent';
    } catch (error) {
      signal.throwIfAborted();
      if (told !== 'failing')
        logger.error('Cannot find out in which version HPAs are served; it is tried again', error);
      told = 'failing';
    }
    await clock.sleep(LOOK_MS, { signal });
  }
}
