import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';

/** Who a request comes from. */
export interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** What a request says, and proves, about who sent it. */
export interface Credentials {
  readonly headers: IncomingHttpHeaders;
  /** Names and values by turns, as they were sent. */
  readonly rawHeaders: readonly string[];
  /** The connection, for the certificate that the client showed; the same object for all its requests. */
  readonly socket: TLSSocket;
  /** Aborts when nobody waits for the answer any more; asked for only where there is something to wait for. */
  readonly signal?: () => AbortSignal;
}

/**
 * Tells who a request comes from.
 *
 * @returns `undefined` when the credentials are not good: the request is answered with 401
 */
export type Authenticator = (credentials: Credentials) => Promise<User | undefined>;

/** The user that callers are who show no credentials. */
export const ANONYMOUS: User = {
  name: 'system:anonymous',
  uid: '',
  groups: ['system:unauthenticated'],
  extra: {},
};

/** Takes everybody for nobody in particular. */
export const everyoneIsAnonymous: Authenticator = () => Promise.resolve(ANONYMOUS);
