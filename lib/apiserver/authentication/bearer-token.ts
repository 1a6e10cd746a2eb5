import type { AuthenticationMethod } from '#lib/apiserver/access/authenticator.ts';
import type { User } from '#lib/apiserver/http/user.ts';

/** Where a token comes from. */
export interface TokenSender {
  readonly address?: string | undefined;
  /** Aborts when they do not wait any more. */
  readonly signal?: (() => AbortSignal) | undefined;
}

/**
 * Finds out whose a token is.
 *
 * @returns `undefined` when it is nobody's
 * @throws when that could not be found out
 */
export type TokenReviewer = (token: string, sender: TokenSender) => Promise<User | undefined>;

/** Takes who sends a bearer token for whom the reviewer says that it is made out to. */
export function byBearerToken(review: TokenReviewer): AuthenticationMethod {
  return async ({ headers, socket, signal }) => {
    const token = bearerTokenIn(headers.authorization ?? '');
    if (token === undefined) return undefined;
    const user = await review(token, { address: socket.remoteAddress, signal });
    if (!user) throw new Error('invalid bearer token');
    return user;
  };
}

/** Another scheme, or a token that is empty, is no attempt; what stands behind a second space is ignored. */
function bearerTokenIn(header: string): string | undefined {
  const trimmed = header.trim();
  const schemeEnd = trimmed.indexOf(' ');
  if (schemeEnd < 0 || trimmed.slice(0, schemeEnd).toLowerCase() !== 'bearer') return undefined;
  const tokenEnd = trimmed.indexOf(' ', schemeEnd + 1);
  const token = trimmed.slice(schemeEnd + 1, tokenEnd < 0 ? undefined : tokenEnd);
  return token === '' ? undefined : token;
}
