import { createHmac, randomBytes } from 'node:crypto';
import type { User } from '#lib/apiserver/http/api-context.ts';
import { ExpiringCache } from '#lib/cache/expiring-cache.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { AuthenticationMethod } from './authenticator.ts';
import type { ReviewClient } from './review-client.ts';

/** The sender of a token. */
interface TokenSender {
  readonly address?: string | undefined;
  /** Aborts when the sender no longer waits. */
  readonly signal?: (() => AbortSignal) | undefined;
}

/**
 * Finds the user of a token.
 *
 * @returns `undefined` when the token is invalid
 * @throws when it cannot be verified
 */
type TokenReviewer = (token: string, sender: TokenSender) => Promise<User | undefined>;

/** Authenticates the sender of a bearer token as the user that the reviewer returns for it. */
export function bearerTokenAuthenticator(review: TokenReviewer): AuthenticationMethod {
  return async ({ headers, socket, signal }) => {
    const token = bearerTokenIn(headers.authorization ?? '');
    if (token === undefined) return undefined;
    const user = await review(token, { address: socket.remoteAddress, signal });
    if (!user) throw new Error('invalid bearer token');
    return user;
  };
}

/** Another scheme, or an empty token, is no attempt; what follows a second space is ignored. */
function bearerTokenIn(header: string): string | undefined {
  const trimmed = header.trim();
  const schemeEnd = trimmed.indexOf(' ');
  if (schemeEnd < 0 || trimmed.slice(0, schemeEnd).toLowerCase() !== 'bearer') return undefined;
  const tokenEnd = trimmed.indexOf(' ', schemeEnd + 1);
  const token = trimmed.slice(schemeEnd + 1, tokenEnd < 0 ? undefined : tokenEnd);
  return token === '' ? undefined : token;
}

interface TokenReviewOptions {
  readonly client: ReviewClient;
  readonly clock: Clock;
  /** How long the API server's response to a valid token is cached. */
  readonly cacheTtlMs: number;
  readonly onLookup?: (status: 'hit' | 'miss') => void;
}

/** As many as Kubernetes' servers cache. */
const MAX_TOKENS = 4096;

/** Long enough that repeated attempts with a bad token cost the API server little. */
const REJECTION_TTL_MS = 1_000;

/** A longer token is refused without a review: tokens of service accounts have about 1,000 characters. */
const MAX_TOKEN_LENGTH = 64 * 1024;

const PATH = '/apis/authentication.k8s.io/v1/tokenreviews';

interface Outcome {
  readonly user: User | undefined;
}

/** Reviews tokens with the API server and caches the results under digests: tokens themselves are not cached. */
export function tokenReviewer({ client, clock, cacheTtlMs, onLookup }: TokenReviewOptions): TokenReviewer {
  const cache = new ExpiringCache<Outcome>({ clock, maxEntries: MAX_TOKENS });
  const secret = randomBytes(32);
  const rejectionTtlMs = Math.min(REJECTION_TTL_MS, cacheTtlMs);
  return async (token, { address = '', signal }) => {
    if (token.length > MAX_TOKEN_LENGTH) return undefined;
    const key = createHmac('sha256', secret).update(token).digest('base64');
    onLookup?.(cache.get(key) ? 'hit' : 'miss');
    const { user } = await cache.getOrCompute(key, {
      compute: async (abandoned) => {
        const caller = { flow: address, signal: abandoned };
        return { user: reviewedUser(await client.review(PATH, reviewOf(token), caller)) };
      },
      lifetimeMs: (outcome) => (outcome.user ? cacheTtlMs : rejectionTtlMs),
      signal,
    });
    return user;
  };
}

function reviewOf(token: string): unknown {
  return { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
}

function reviewedUser(review: unknown): User | undefined {
  const status = propertyOf(review, 'status');
  const user = propertyOf(status, 'user');
  const name = propertyOf(user, 'username');
  if (propertyOf(status, 'authenticated') !== true || typeof name !== 'string') return undefined;
  const uid = propertyOf(user, 'uid');
  const extra = propertyOf(user, 'extra');
  return {
    name,
    uid: typeof uid === 'string' ? uid : '',
    groups: textsOf(propertyOf(user, 'groups')),
    extra:
      typeof extra === 'object' && extra !== null
        ? Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, textsOf(values)]))
        : {},
  };
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
}
