import { StatusError, tooManyRequests } from '#lib/apiserver/http/status-error.ts';
import { FairSemaphore, QueueFullError } from '#lib/concurrency/semaphore.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { codeOf } from '#lib/telemetry/error-text.ts';
import { FailureLog } from '#lib/telemetry/failure-log.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { Backoff } from '#lib/time/backoff.ts';
import type { Clock } from '#lib/time/clock.ts';

/** How many reviews there may be; of both, half for one party that is alone. */
interface ReviewLimits {
  /** Under way at once, each on a connection to the API server. */
  readonly underWay: number;
  /** Waiting until fewer are. */
  readonly waiting: number;
}

/** A review takes milliseconds: these are thousands in a second. */
const DEFAULT_REVIEW_LIMITS: ReviewLimits = { underWay: 32, waiting: 1_000 };
const RETRY_AFTER_SECONDS = 1;

/** What a review client needs from outside. */
interface ReviewClientOptions {
  readonly client: Pick<ApiClient, 'postJson'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What is asked for, as log lines name it: `TokenReview`. */
  readonly kind: string;
  /** Told of every response: its HTTP status, or `<error>` where none came. */
  readonly onResponse?: (code: string, durationMs: number) => void;
  /** A number in [0, 1), so that not all servers come back at once. */
  readonly random?: () => number;
  readonly limits?: ReviewLimits;
  /** Called for each review that may not even wait. */
  readonly onRefused?: () => void;
}

/** For whom something is reviewed. */
interface ReviewCaller {
  /** Who is to wait if there are many reviews for the same. */
  readonly party: string;
  /** Aborts when nobody waits for the result any more. */
  readonly signal?: AbortSignal | undefined;
}

/** How long one response may take, as in Kubernetes' servers. */
const TIMEOUT_MS = 10_000;
/** Attempts, the first included. */
const MAX_ATTEMPTS = 5;
const BACKOFF = { initialMs: 500, maxMs: 2_500 };
const LOST_CONNECTION = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];

/**
 * Asks the API server for its judgement. What failed for a passing reason is asked again: a connection that was closed
 * while it lay idle, an API server that is busy or just starting.
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
      failing: `Cannot get a response to a ${kind}; callers are refused meanwhile`,
      recovered: `${kind}s get responses again`,
    });
  }

  /**
   * Asks for a review. One that has been sent is waited for, though nobody wants it any more: to break it off would cost a
   * connection, which costs more, and its result may be remembered.
   *
   * @throws what kept the API server from responding; its message never quotes the review
   * @throws {StatusError} 429 when too many wait
   */
  async review(path: string, review: unknown, { party, signal }: ReviewCaller): Promise<unknown> {
    const { clock, random = Math.random } = this.#options;
    const backoff = new Backoff({ ...BACKOFF, random });
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await this.#ask(path, review, { party, signal });
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

  async #ask(path: string, review: unknown, { party, signal }: ReviewCaller): Promise<unknown> {
    const { client, clock, onResponse } = this.#options;
    using _permit = await this.#acquire(party, signal);
    const startedAtMs = clock.monotonicMs();
    const told = (code: string) => onResponse?.(code, clock.monotonicMs() - startedAtMs);
    try {
      const response = await client.postJson(path, review, { timeoutMs: TIMEOUT_MS });
      told('201');
      return response;
    } catch (error) {
      told(error instanceof ApiError ? `${error.statusCode}` : '<error>');
      throw error;
    }
  }

  async #acquire(party: string, signal: AbortSignal | undefined): Promise<Disposable> {
    try {
      return await this.#permits.acquire(party, signal);
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
