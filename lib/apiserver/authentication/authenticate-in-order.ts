import { StatusError } from '#lib/apiserver/errors/status-error.ts';
import { ANONYMOUS, type User } from '#lib/apiserver/http/user.ts';
import { AUTHENTICATED_GROUP, type AuthenticationMethod } from './authentication-method.ts';
import type { Authenticator } from './authenticator.ts';

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
  return async (credentials) => {
    const reasons: unknown[] = [];
    for (const method of methods) {
      try {
        const found = await method(credentials);
        if (found instanceof Error) reasons.push(found);
        else if (found) return withAuthenticatedGroup(found);
      } catch (error) {
        if (error instanceof StatusError) throw error; // the request's time is up
        reasons.push(error);
      }
    }
    if (reasons.length === 0) return ANONYMOUS;
    onRefused(reasons);
    return undefined;
  };
}

/** Of a user that a connection has, one for all its requests. */
const AUTHENTICATED = new WeakMap<User, User>();

/** Everybody is authenticated but whom the front proxy let in without knowing them. */
function withAuthenticatedGroup(user: User): User {
  const { name, groups } = user;
  const isSettled = groups.includes(AUTHENTICATED_GROUP) || groups.includes(UNAUTHENTICATED_GROUP);
  if (name === ANONYMOUS.name || isSettled) return user;
  const authenticated = AUTHENTICATED.get(user) ?? { ...user, groups: [...groups, AUTHENTICATED_GROUP] };
  AUTHENTICATED.set(user, authenticated);
  return authenticated;
}
