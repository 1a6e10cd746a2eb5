import * as z from 'zod';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import { readAs } from '#lib/kubernetes/objects/find-wrong-field.ts';
import type { ClusterContext } from './cluster-context.ts';

const text = z.string().optional();

const API_SERVICE = z.object({
  spec: z.object({
    service: z.object({ namespace: z.string(), name: z.string() }).nullish(),
    caBundle: z.string().nullish(),
    insecureSkipTLSVerify: z.boolean().optional(),
  }),
  status: z
    .object({
      conditions: z
        .array(z.object({ type: z.string(), status: z.string(), reason: text, message: text }))
        .optional(),
    })
    .optional(),
});

/** An APIService of apiregistration.k8s.io/v1, as far as doctors read it. */
export type ApiService = z.output<typeof API_SERVICE>;

/**
 * Reads an APIService.
 *
 * @param name version and group, such as `v1beta1.metrics.k8s.io`
 * @returns `undefined` when there is none
 * @throws {MissingPermission} and other errors of the API server
 */
export async function readApiService(context: ClusterContext, name: string): Promise<ApiService | undefined> {
  try {
    const path = `/apis/apiregistration.k8s.io/v1/apiservices/${name}`;
    const found = await context.get(path, `get apiservices.apiregistration.k8s.io ${name}`);
    return readAs(API_SERVICE, 'the APIService', found);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Its condition `Available`; `undefined` until the API server has checked it. */
export function availabilityOf({ status }: ApiService) {
  return status?.conditions?.find(({ type }) => type === 'Available');
}
