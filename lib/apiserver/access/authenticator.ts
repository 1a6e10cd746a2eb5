import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { ANONYMOUS, type User } from '#lib/apiserver/http/api-context.ts';
import { StatusError } from '#lib/apiserver/http/status-error.ts';
import { memoizeByObject } from '#lib/cache/memoize.ts';

/** Credentials of a request. */
interface Credentials {
  readonly headers: IncomingHttpHeaders;
  /** Alternating names and values, as they were sent. */
  readonly rawHeaders: readonly string[];
  /** The connection, for the client's certificate; the same object for all requests of the connection. */
  readonly socket: TLSSocket;
  /** Aborts when the client no longer waits for the response. Called only where there is something to wait for. */
  readonly signal?: () => AbortSignal;
}

/**
 * Finds the user of a request; synchronous where there is nothing to wait for.
 *
 * @returns `undefined` when the credentials are invalid: the response is a 401
 */
export type Authenticator = (credentials: Credentials) => Promise<User | undefined> | User | undefined;

export const alwaysAnonymous: Authenticator = () => ANONYMOUS;

const UNAUTHENTICATED_GROUP = 'system:unauthenticated';

/**
 * Tries methods in order and returns the first user that one of them finds. A request without credentials is anonymous.
 * One whose every attempt fails is refused; an earlier failed attempt does not matter if a later one succeeds.
 *
 * @param onRefused receives one reason for each failed attempt
 */
export function unionAuthenticator(
  methods: readonly AuthenticationMethod[],
  onRefused: (reasons: readonly unknown[]) => void,
): Authenticator {
  return (credentials) => {
    const reasons: unknown[] = [];
    const userOf = (found: Identification) => {
      if (!(found instanceof Error)) return found && withAuthenticatedGroup(found);
      reasons.push(found);
      return undefined;
    };
    const note = (error: unknown) => {
      if (error instanceof StatusError) throw error; // the request's deadline has passed
      reasons.push(error);
      return undefined;
    };
    const tryFrom = (first: number): Promise<User | undefined> | User | undefined => {
      for (let index = first; index < methods.length; index++) {
        const found = attempt(methods[index], credentials, note);
        if (found instanceof Promise)
          return found.then(userOf, note).then((user) => user ?? tryFrom(index + 1));
        const user = userOf(found);
        if (user) return user;
      }
      if (reasons.length === 0) return ANONYMOUS;
      onRefused(reasons);
      return undefined;
    };
    return tryFrom(0);
  };
}

function attempt(
  method: AuthenticationMethod | undefined,
  credentials: Credentials,
  onThrown: (error: unknown) => undefined,
): ReturnType<AuthenticationMethod> {
  try {
    return method?.(credentials);
  } catch (error) {
    return onThrown(error);
  }
}

/** Adds `system:authenticated` to the groups, unless the front proxy forwards an anonymous user. */
function withAuthenticatedGroup(user: User): User {
  const { name, groups } = user;
  const isSettled = groups.includes(AUTHENTICATED_GROUP) || groups.includes(UNAUTHENTICATED_GROUP);
  return name === ANONYMOUS.name || isSettled ? user : authenticated(user);
}

/** Cached by user, as all requests of a connection share one user object. */
const authenticated = memoizeByObject(
  (user: User): User => ({ ...user, groups: [...user.groups, AUTHENTICATED_GROUP] }),
);

/**
 * One way to authenticate.
 *
 * @returns `undefined` when the request has no credentials of this kind, an Error when they are invalid; its message
 * never quotes them
 * @throws when they cannot be verified, which counts as invalid
 */
export type AuthenticationMethod = (credentials: Credentials) => Promise<Identification> | Identification;

export type Identification = User | Error | undefined;

const AUTHENTICATED_GROUP = 'system:authenticated';
