import type { User } from '#lib/apiserver/http/user.ts';
import type { Credentials } from './authenticator.ts';

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
export const AUTHENTICATED_GROUP = 'system:authenticated';
