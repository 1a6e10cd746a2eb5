import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { type ApiResource, collectionPath } from '#lib/kubernetes/client/api-resource.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';

/** What {@link untilAllowed} works with. */
export interface AllowedKindsOptions {
  readonly client: Pick<ApiClient, 'getJson'>;
  /** Where objects are to be listed; everywhere if there are none. */
  readonly namespaces: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Who waits, as a log line names it. */
  readonly controller: string;
}

const LOOK_MS = 30_000;
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
  let told = '';
  while (paths.length > 0) {
    const [path = ''] = paths;
    try {
      await client.getJson(`${path}?limit=1`, { signal });
      paths.shift();
      continue;
    } catch (error) {
      signal.throwIfAborted();
      const isForbidden = error instanceof ApiError && error.statusCode === FORBIDDEN;
      const message = isForbidden
        ? 'Waiting for permission to list objects'
        : 'Cannot ask whether objects may be listed; it is tried again';
      if (told !== message) logger.error(message, error, { controller, path });
      told = message;
    }
    await clock.sleep(LOOK_MS, { signal });
  }
  if (told) logger.info('The API server lets objects be listed now', { controller });
}
