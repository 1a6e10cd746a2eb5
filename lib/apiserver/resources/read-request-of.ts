import type { ReadRequest } from '#lib/apiserver/api-group.ts';
import type { RequestState } from '#lib/apiserver/http/api-context.ts';

/** What a resource is told of the request. */
export function readRequestOf({ user, query, deadline, slices }: RequestState): ReadRequest {
  return {
    user,
    query,
    slices,
    get signal() {
      return deadline.signal;
    },
  };
}
