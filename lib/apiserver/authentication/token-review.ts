import { createHmac, randomBytes } from 'node:crypto';
import type { User } from '#lib/apiserver/http/user.ts';
import type { ReviewClient } from '#lib/apiserver/reviews/review-client.ts';
import { ExpiringCache } from '#lib/cache/expiring-cache.ts';
import { propertyOf } from '#lib/kubernetes/object-metadata.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { TokenReviewer } from './bearer-token.ts';

/** What token reviews need from outside. */
export interface TokenReviewOptions {
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
