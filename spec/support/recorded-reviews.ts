import { ReviewClient } from '#lib/apiserver/access/review-client.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { ManualClock } from './manual-clock.ts';
import { RecordingLogger } from './recording-logger.ts';

/** A review client with responses from the spec; it records reviews. */
export interface RecordedReviews {
  readonly client: ReviewClient;
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
  /** The received reviews, by path and body. */
  readonly requested: { readonly path: string; readonly body: unknown }[];
  /** The response to the next reviews. */
  response: (review: unknown) => unknown;
}

/** @param response returns the `status` of a review, or throws */
export function recordReviews(response: RecordedReviews['response']): RecordedReviews {
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  const reviews: RecordedReviews = {
    clock,
    logger,
    requested: [],
    response,
    client: new ReviewClient({
      client: {
        postJson: async (path, body) => {
          reviews.requested.push({ path, body });
          return { status: reviews.response(body) };
        },
      },
      clock,
      logger,
      kind: 'Review',
      random: () => 0,
    }),
  };
  return reviews;
}

/** The error of an API client if no server listens. */
export function unreachable(): never {
  const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  throw new Error('Cannot post review at https://api', { cause });
}

/** The error of an API client if a pooled connection is closed. */
export function connectionLost(): never {
  const cause = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
  throw new Error('Cannot post review at https://api', { cause });
}

/** The error of an API client if the API server rejects a request. */
export function refusing(statusCode: number): () => never {
  return () => {
    throw new ApiError(`refused (status ${statusCode})`, {
      statusCode,
      reason: undefined,
      retryAfterMs: undefined,
    });
  };
}
