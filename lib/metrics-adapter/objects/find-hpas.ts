import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import type { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';

/** What {@link findHpas} works with. */
export interface FindHpasOptions {
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
