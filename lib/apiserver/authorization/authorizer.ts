import type { RequestInfo } from '#lib/apiserver/http/request-info.ts';
import type { User } from '#lib/apiserver/http/user.ts';

/** Who wants to do what. */
export interface Attributes {
  readonly user: User;
  readonly info: RequestInfo;
  /** Aborts when nobody waits for the response any more; asked for only where there is something to wait for. */
  readonly signal?: () => AbortSignal;
}

/** Whether it may be done, and what the authorizer has to say about that. */
export interface Decision {
  readonly isAllowed: boolean;
  readonly reason?: string;
}

/**
 * Decides whether a user may do something, without a promise where there is nothing to wait for.
 *
 * @throws when no decision could be reached: the response is a 500
 */
export type Authorizer = (attributes: Attributes) => Promise<Decision> | Decision;

/** Lets everybody do everything. */
export const everythingIsAllowed: Authorizer = () => ({ isAllowed: true });
