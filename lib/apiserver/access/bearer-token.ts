import { createHmac, randomBytes } from 'node:crypto';
import type { User } from '#lib/apiserver/http/api-context.ts';
import { ExpiringCache } from '#lib/cache/expiring-cache.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { AuthenticationMethod } from './authenticator.ts';
import type { ReviewClient } from './review-client.ts';

/** Where a token comes from. */
interface TokenSender {
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
type TokenReviewer = (token: string, sender: TokenSender) => Promise<User | undefined>;

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

/** What token reviews need from outside. */
interface TokenReviewOptions {
  readonly client: ReviewClient;
  readonly clock: Clock;
  /** For how long the API server's word about a good token is taken, without asking it again. */
  readonly cacheTtlMs: number;
  readonly onLookup?: (status: 'hit' | 'miss') => void;
}

/** As many as Kubernetes' servers remember. */
const MAX_TOKENS = 4096;

/** Long enough that who tries a bad token over and over costs the API server little. */
const REJECTION_TTL_MS = 1_000;

/** A longer one is refused unseen: tokens of service accounts have about 1,000 characters. */
const MAX_TOKEN_LENGTH = 64 * 1024;

const PATH = '/apis/authentication.k8s.io/v1/tokenreviews';

interface Outcome {
  readonly user: User | undefined;
}

/** Asks the API server whose a token is, and remembers the response under a digest: tokens themselves are not kept. */
export function tokenReviewer({ client, clock, cacheTtlMs, onLookup }: TokenReviewOptions): TokenReviewer {
  const cache = new ExpiringCache<Outcome>({ clock, maxEntries: MAX_TOKENS });
  const secret = randomBytes(32);
  const rejectionTtlMs = Math.min(REJECTION_TTL_MS, cacheTtlMs);
  return async (token, { address = '', signal }) => {
    if (token.length > MAX_TOKEN_LENGTH) return undefined;
    const key = createHmac('sha256', secret).update(token).digest('base64');
    onLookup?.(cache.get(key) ? 'hit' : 'miss');
    const { user } = await cache.getOrCompute(key, {
      compute: async (unwanted) => {
        const caller = { party: address, signal: unwanted };
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
