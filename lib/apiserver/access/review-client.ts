import { StatusError, tooManyRequests } from '#lib/apiserver/http/status-error.ts';
import { FairSemaphore, QueueFullError } from '#lib/concurrency/semaphore.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { codeOf } from '#lib/telemetry/error-text.ts';
import { FailureLog } from '#lib/telemetry/failure-log.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { Backoff } from '#lib/time/backoff.ts';
import type { Clock } from '#lib/time/clock.ts';

/** Numbers of reviews; one client alone may have half of each. */
interface ReviewLimits {
  /** Concurrent, each on a connection to the API server. */
  readonly underWay: number;
  /** Waiting for one of these. */
  readonly waiting: number;
}

/** A review takes milliseconds: these are thousands a second. */
const DEFAULT_REVIEW_LIMITS: ReviewLimits = { underWay: 32, waiting: 1_000 };
const RETRY_AFTER_SECONDS = 1;

interface ReviewClientOptions {
  readonly client: Pick<ApiClient, 'postJson'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** As log lines name it: `TokenReview`. */
  readonly kind: string;
  /** Called for every response with its HTTP status, or `<error>` where there is none. */
  readonly onResponse?: (code: string, durationMs: number) => void;
  /** A number in [0, 1), so that not all servers retry at once. */
  readonly random?: () => number;
  readonly limits?: ReviewLimits;
  /** Called for each review that is refused because too many wait. */
  readonly onRefused?: () => void;
}

interface ReviewCaller {
  /** As in API Priority and Fairness: a flow with many reviews waits before others do. */
  readonly flow: string;
  /** Aborts when the caller no longer needs the result. */
  readonly signal?: AbortSignal | undefined;
}

/** Timeout of one response, as in Kubernetes' servers. */
const TIMEOUT_MS = 10_000;
/** Including the first. */
const MAX_ATTEMPTS = 5;
const BACKOFF = { initialMs: 500, maxMs: 2_500 };
const LOST_CONNECTION = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];

/**
 * Sends reviews to the API server. Transient failures are retried: a connection that was closed while idle, an API
 * server that is busy or starting.
 */
export class ReviewClient {
  readonly #options: ReviewClientOptions;
  readonly #failures: FailureLog;
  readonly #permits: FairSemaphore;

  constructor(options: ReviewClientOptions) {
    const { logger, kind, limits = DEFAULT_REVIEW_LIMITS } = options;
    this.#options = options;
    this.#permits = new FairSemaphore(limits.underWay, { maxWaiting: limits.waiting });
    this.#failures = new FailureLog({
      logger,
      failing: `Cannot get ${kind} response from the API server; refusing requests until one succeeds`,
      recovered: `${kind}s succeed again`,
    });
  }

  /**
   * Sends a review. Once sent, it is awaited even if the caller leaves: to abort it would cost a connection, which is
   * more expensive, and its result may be cached.
   *
   * @throws what prevented a response; the message never quotes the review
   * @throws {StatusError} 429 when too many wait
   */
  async review(path: string, review: unknown, { flow, signal }: ReviewCaller): Promise<unknown> {
    const { clock, random = Math.random } = this.#options;
    const backoff = new Backoff({ ...BACKOFF, random });
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await this.#send(path, review, { flow, signal });
        this.#failures.succeed();
        return response;
      } catch (error) {
        if (signal?.aborted || error instanceof StatusError) throw error;
        const isRetried = attempt < MAX_ATTEMPTS && isTransient(error);
        if (!isRetried) {
          this.#failures.fail(error);
          throw error;
        }
        if (attempt > 1 || !isLostConnection(error)) {
          await clock.sleep(backoff.next(), signal && { signal });
        }
      }
    }
  }

  async #send(path: string, review: unknown, { flow, signal }: ReviewCaller): Promise<unknown> {
    const { client, clock, onResponse } = this.#options;
    using _permit = await this.#acquire(flow, signal);
    const startedAtMs = clock.monotonicMs();
    const report = (code: string) => onResponse?.(code, clock.monotonicMs() - startedAtMs);
    try {
      const response = await client.postJson(path, review, { timeoutMs: TIMEOUT_MS });
      report('201');
      return response;
    } catch (error) {
      report(error instanceof ApiError ? `${error.statusCode}` : '<error>');
      throw error;
    }
  }

  async #acquire(flow: string, signal: AbortSignal | undefined): Promise<Disposable> {
    try {
      return await this.#permits.acquire(flow, signal);
    } catch (error) {
      if (!(error instanceof QueueFullError)) throw error;
      this.#options.onRefused?.();
      throw tooManyRequests(RETRY_AFTER_SECONDS);
    }
  }
}

function isTransient(error: unknown): boolean {
  if (error instanceof ApiError) {
    return [429, 500, 504].includes(error.statusCode) || error.retryAfterMs !== undefined;
  }
  return isLostConnection(error);
}

function isLostConnection(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause ?? error) : undefined;
  return LOST_CONNECTION.includes(codeOf(cause) ?? '');
}
