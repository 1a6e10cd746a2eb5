import { z } from 'zod';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';

const LIMIT_RANGES = {
  group: '',
  version: 'v1',
  kind: 'LimitRange',
  plural: 'limitranges',
  namespaced: true,
};

const amounts = z.record(z.string(), z.union([z.string(), z.number()])).optional();
const SPEC = z.object({
  spec: z.object({
    limits: z.array(z.object({ type: z.string(), default: amounts, defaultRequest: amounts })),
  }),
});

/** Resources of which the LimitRanges of a namespace give containers a default. */
export function limitedByDefault(client: ApiClient) {
  const ranges = new ResourceClient({ api: client, resource: LIMIT_RANGES });
  return async (namespace: string, signal: AbortSignal): Promise<readonly string[]> => {
    const found = await ranges.list({ namespace, signal }).catch((error: unknown) => {
      if (isNotFound(error)) return []; // who serves none has none
      throw error;
    });
    return found.flatMap((range) => {
      const limits = SPEC.safeParse(range).data?.spec.limits ?? [];
      return limits
        .filter(({ type }) => type === 'Container')
        .flatMap((limit) => [
          ...Object.keys(limit.default ?? {}),
          ...Object.keys(limit.defaultRequest ?? {}),
        ]);
    });
  };
}
