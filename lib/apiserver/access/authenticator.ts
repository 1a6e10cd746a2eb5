import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { ANONYMOUS, type User } from '#lib/apiserver/http/api-context.ts';
import { StatusError } from '#lib/apiserver/http/status-error.ts';
import { memoizeByObject } from '#lib/cache/memoize.ts';

/** What a request says, and proves, about who sent it. */
interface Credentials {
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

const UNAUTHENTICATED_GROUP = 'system:unauthenticated';

/**
 * Tries one method after the other and takes the first user that one of them finds. Who tries none is anonymous; whose
 * every attempt fails is refused, though a later method may make up for an earlier one that failed.
 *
 * @param onRefused told why, one reason for each attempt
 */
export function authenticateInOrder(
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
      if (error instanceof StatusError) throw error; // the request's time is up
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

/** Everybody is authenticated but whom the front proxy let in without knowing them. */
function withAuthenticatedGroup(user: User): User {
  const { name, groups } = user;
  const isSettled = groups.includes(AUTHENTICATED_GROUP) || groups.includes(UNAUTHENTICATED_GROUP);
  return name === ANONYMOUS.name || isSettled ? user : authenticated(user);
}

/** Of a user that a connection has, one for all its requests. */
const authenticated = memoizeByObject(
  (user: User): User => ({ ...user, groups: [...user.groups, AUTHENTICATED_GROUP] }),
);

/**
 * One way to prove who one is.
 *
 * @returns `undefined` when a request does not try this way, and an Error when it does, and the proof is no good; the
 * message says why and never quotes the proof
 * @throws what kept it from finding out, which counts as no good, too
 */
export type AuthenticationMethod = (credentials: Credentials) => Promise<Identification> | Identification;

/** What comes of one way. */
export type Identification = User | Error | undefined;

/** What every user belongs to who has proved who they are. */
const AUTHENTICATED_GROUP = 'system:authenticated';
