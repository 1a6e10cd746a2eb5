import { z } from 'zod';
import { ExpiringCache } from '#lib/cache/expiring-cache.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { readAs } from '#lib/kubernetes/objects/find-wrong-field.ts';
import { type KubernetesObject, readObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { toError } from '#lib/telemetry/error-text.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';

const LIMIT_RANGES = {
  group: '',
  version: 'v1',
  kind: 'LimitRange',
  plural: 'limitranges',
  namespaced: true,
};

const amounts = z.record(z.string(), z.union([z.string(), z.number()])).nullish();
const LIMIT_RANGE = z.object({
  spec: z.object({
    limits: z.array(z.object({ type: z.string(), default: amounts, defaultRequest: amounts })).nullish(),
  }),
});

function readLimitRange(value: unknown): KubernetesObject & z.output<typeof LIMIT_RANGE> {
  const { metadata } = readObject(value);
  return { metadata, ...readAs(LIMIT_RANGE, 'a LimitRange', value) };
}

/** Resources for which LimitRanges of a namespace set a default or default request for containers. */
export function limitedByDefault(client: ApiClient) {
  const ranges = new ResourceClient({ api: client, resource: LIMIT_RANGES, read: readLimitRange });
  return async (namespace: string, signal: AbortSignal): Promise<readonly string[]> => {
    const found = await ranges.list({ namespace, signal }).catch((error: unknown) => {
      if (isNotFound(error)) return []; // the API server does not serve LimitRanges
      throw error;
    });
    return found
      .flatMap(({ spec }) => spec.limits ?? [])
      .filter(({ type }) => type === 'Container')
      .flatMap((limit) => [...Object.keys(limit.default ?? {}), ...Object.keys(limit.defaultRequest ?? {})]);
  };
}

type Limits = readonly string[];
type LimitedByDefault = (namespace: string, signal: AbortSignal) => Promise<Limits>;

const CACHED_MS = 10_000;
const MAX_NAMESPACES = 100;
const MAX_CONCURRENT = 2;
const TIMEOUT_MS = 2_000;

/**
 * Caches the defaults of namespaces for the webhook, which must respond in time and which any client may call: at most two
 * concurrent requests to the API server, and results, also failures, are cached for 10 s.
 *
 * @returns a function that throws if the result is not available within 2 s
 */
export function cachedLimits(list: LimitedByDefault, clock: Clock): (namespace: string) => Promise<Limits> {
  const cache = new ExpiringCache<Limits | Error>({ clock, maxEntries: MAX_NAMESPACES });
  let concurrent = 0;
  const listInTime = async (namespace: string): Promise<Limits | Error> => {
    if (concurrent >= MAX_CONCURRENT) return new Error('too many concurrent requests for LimitRanges');
    concurrent++;
    const expired = () => new Error(`Cannot list LimitRanges of namespace ${namespace}: timeout`);
    using deadline = startDeadline(clock, TIMEOUT_MS, { expired });
    try {
      return await raceAbort(list(namespace, deadline.signal), deadline.signal);
    } catch (error) {
      return toError(error);
    } finally {
      concurrent--;
    }
  };
  return async (namespace) => {
    const computation = { compute: () => listInTime(namespace), lifetimeMs: () => CACHED_MS };
    const limits = await cache.getOrCompute(namespace, computation);
    if (limits instanceof Error) throw limits;
    return limits;
  };
}
