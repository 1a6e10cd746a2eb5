import { ReviewClient } from '#lib/apiserver/access/review-client.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { ManualClock } from './manual-clock.ts';
import { RecordingLogger } from './recording-logger.ts';

/** A review client that asks a spec instead of an API server, and keeps what was asked. */
export interface RecordedReviews {
  readonly client: ReviewClient;
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
  /** What was asked, by path and body. */
  readonly asked: { readonly path: string; readonly body: unknown }[];
  /** What the next requests are responded to with. */
  response: (review: unknown) => unknown;
}

/** @param response gives the `status` of a response, or throws */
export function recordReviews(response: RecordedReviews['response']): RecordedReviews {
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  const reviews: RecordedReviews = {
    clock,
    logger,
    asked: [],
    response,
    client: new ReviewClient({
      client: {
        postJson: async (path, body) => {
          reviews.asked.push({ path, body });
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

/** What an API client throws when nothing listens. */
export function unreachable(): never {
  const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  throw new Error('Cannot post review at https://api', { cause });
}

/** What an API client throws when a kept connection turns out to be closed. */
export function connectionLost(): never {
  const cause = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
  throw new Error('Cannot post review at https://api', { cause });
}

/** What an API client throws when the API server refuses. */
export function refusing(statusCode: number): () => never {
  return () => {
    throw new ApiError(`refused (status ${statusCode})`, {
      statusCode,
      reason: undefined,
      retryAfterMs: undefined,
    });
  };
}
