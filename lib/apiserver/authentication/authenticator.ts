import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { ANONYMOUS, type User } from '#lib/apiserver/http/user.ts';

/** What a request says, and proves, about who sent it. */
export interface Credentials {
  readonly headers: IncomingHttpHeaders;
  /** Names and values alternately, as they were sent. */
  readonly rawHeaders: readonly string[];
  /** The connection, for the certificate that the client showed; the same object for all its requests. */
  readonly socket: TLSSocket;
  /** Aborts when nobody waits for the response any more; asked for only where there is something to wait for. */
  readonly signal?: () => AbortSignal;
}

/**
 * Tells who a request comes from, without a promise where there is nothing to wait for.
 *
 * @returns `undefined` when the credentials are not good: the response is a 401
 */
export type Authenticator = (credentials: Credentials) => Promise<User | undefined> | User | undefined;

/** Takes everybody for nobody in particular. */
export const everyoneIsAnonymous: Authenticator = () => ANONYMOUS;
