import * as z from 'zod';
import { TokenBucket } from '#lib/concurrency/token-bucket.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { readAs } from '#lib/kubernetes/objects/find-wrong-field.ts';
import { pathSegment } from '#lib/kubernetes/path-segment.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import type { Clock } from '#lib/time/clock.ts';

export type PodFacts =
  | {
      readonly kind: 'found';
      /** `undefined` before it is scheduled. */
      readonly nodeName: string | undefined;
      readonly phase: string;
      readonly startedAtMs: number | undefined;
    }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown'; readonly because: string };

interface PodLookupOptions {
  readonly client: Pick<ApiClient, 'getJson'>;
  readonly clock: Clock;
}

/** Lookups at once, and on average per interval; more are rejected, to protect the API server. */
const LOOKUPS_PER_INTERVAL = 10;
const INTERVAL_MS = 10_000;
const TIMEOUT_MS = 5_000;

const POD_LIST = z.object({
  items: z
    .array(
      z.object({
        spec: z.object({ nodeName: z.string().optional() }),
        status: z.object({ phase: z.string().optional(), startTime: z.string().optional() }).optional(),
      }),
    )
    .nullable(),
});

/** Looks up pods that are not in the cache of running pods, at a limited rate. */
export class PodLookup {
  readonly #options: PodLookupOptions;
  readonly #permits: TokenBucket;

  constructor(options: PodLookupOptions) {
    this.#options = options;
    const perSecond = LOOKUPS_PER_INTERVAL / (INTERVAL_MS / 1000);
    this.#permits = new TokenBucket({ clock: options.clock, perSecond, burst: LOOKUPS_PER_INTERVAL });
  }

  async find(namespace: string, name: string): Promise<PodFacts> {
    if (!this.#permits.tryTake()) {
      return {
        kind: 'unknown',
        because: `${LOOKUPS_PER_INTERVAL} pods were looked up in the last ${INTERVAL_MS / 1000} s; query again in a moment`,
      };
    }
    try {
      // A list with one item: the server has the permission to list pods, not to get them.
      const selector = new URLSearchParams({ fieldSelector: `metadata.name=${name}` });
      const path = `/api/v1/namespaces/${pathSegment(namespace)}/pods?${selector}`;
      const { items } = readAs(
        POD_LIST,
        'the list of pods',
        await this.#options.client.getJson(path, { timeoutMs: TIMEOUT_MS }),
      );
      const pod = items?.[0];
      if (!pod) return { kind: 'absent' };
      const { nodeName } = pod.spec;
      const startedAtMs = Date.parse(pod.status?.startTime ?? '');
      return {
        kind: 'found',
        nodeName: nodeName === '' ? undefined : nodeName,
        phase: pod.status?.phase ?? 'Unknown',
        startedAtMs: Number.isNaN(startedAtMs) ? undefined : startedAtMs,
      };
    } catch (error) {
      const missing = error instanceof ApiError && error.statusCode === 403;
      return {
        kind: 'unknown',
        because: missing ? 'the permission to list pods is missing' : describeError(error),
      };
    }
  }
}
