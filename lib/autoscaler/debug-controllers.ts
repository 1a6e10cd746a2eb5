import { debugEndpoint } from '#lib/apiserver/debug-endpoint.ts';
import type { Endpoint } from '#lib/apiserver/http/api-context.ts';

/** Who acts, and what runs. */
export interface ControllersState {
  readonly identity: string;
  readonly isLeader: boolean;
  /** Who has the lease, as far as is known. */
  readonly leader: string | undefined;
  /** Since when, as RFC 3339 says it. */
  readonly leaderSince: string | undefined;
  /** When this replica was started, as RFC 3339 says it. */
  readonly startedAt: string;
  readonly controllers: readonly string[];
}

/** `/debug/controllers`: which controllers run here, and whether this replica acts or which other does. */
export function debugControllers(state: () => ControllersState): Endpoint {
  return debugEndpoint([], state);
}
