import type { ReadRequest } from '#lib/apiserver/api-group.ts';
import type { ApiContext } from '#lib/apiserver/http/api-context.ts';

/** Waits for a resource's answer, for as long as the request's deadline and its client's patience last. */
export function awaitAnswer<T>(context: ApiContext, answer: Promise<T>): Promise<T> {
  return context.state.deadline.wait(answer);
}

/** What a resource is told of the request. */
export function readRequestOf({ state }: ApiContext): ReadRequest {
  return {
    user: state.user,
    query: state.query,
    get signal() {
      return state.deadline.signal;
    },
  };
}
