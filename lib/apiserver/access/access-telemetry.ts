import { Counter, Histogram, type Registry } from 'prom-client';

/** Buckets, in seconds, that Kubernetes' servers use for requests to the API server. */
const REVIEW_BUCKETS = [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10];

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const MONTH_S = 30 * DAY_S;
const REMAINING_BUCKETS = [
  ...[0, HOUR_S / 2, HOUR_S, 2 * HOUR_S, 6 * HOUR_S, 12 * HOUR_S],
  ...[DAY_S, 2 * DAY_S, 4 * DAY_S, 7 * DAY_S],
  ...[MONTH_S, 3 * MONTH_S, 6 * MONTH_S, 12 * MONTH_S],
];

/** Reviews of tokens (authn) or of permissions (authz). */
export type ReviewKind = 'authn' | 'authz';

/** Series about authentication and authorization, named as in Kubernetes' servers. No label names a caller. */
export class AccessTelemetry {
  /** Counts by result. Every request counts here twice, so series are made only when `/metrics` is read. */
  readonly #authentications = new Map<string, number>();
  readonly #authorizations = new Map<string, number>();
  readonly #tokenLookups: Counter<'status'>;
  readonly #remaining: Histogram;
  readonly #reviews: Readonly<Record<ReviewKind, Counter<'code'>>>;
  readonly #refusedReviews: Counter<'kind'>;
  readonly #reviewDurations: Readonly<Record<ReviewKind, Histogram<'code'>>>;

  constructor(registry: Registry) {
    const registers = [registry];
    const countByResult = (counts: ReadonlyMap<string, number>, name: string, help: string) =>
      new Counter({
        ...{ name, help, registers },
        labelNames: ['result'],
        collect() {
          this.reset();
          for (const [result, count] of counts) this.inc({ result }, count);
        },
      });
    countByResult(
      this.#authentications,
      'authentication_attempts_total', // Kubernetes' own name lacks the suffix `_total`
      'Counter of authenticated attempts.',
    );
    countByResult(
      this.#authorizations,
      'authorization_attempts_total',
      "Counter of authorization attempts broken down by result. It can be either 'allowed', 'no-opinion' or 'error'.",
    );
    this.#tokenLookups = new Counter({
      name: 'authentication_token_cache_request_total',
      help: 'Number of lookups of bearer tokens in the cache.',
      labelNames: ['status'],
      registers,
    });
    this.#remaining = new Histogram({
      name: 'apiserver_client_certificate_expiration_seconds',
      help: 'Distribution of the remaining lifetime on the certificate used to authenticate a request.',
      buckets: REMAINING_BUCKETS,
      registers,
    });
    this.#refusedReviews = new Counter({
      name: 'apiserver_delegated_refused_reviews_total',
      help: 'Number of requests refused because too many others were waiting for a review by the API server, by kind of review.',
      labelNames: ['kind'],
      registers,
    });
    const count = (kind: ReviewKind) =>
      new Counter({
        name: `apiserver_delegated_${kind}_request_total`,
        help: 'Number of HTTP requests partitioned by status code.',
        labelNames: ['code'] as const,
        registers,
      });
    const measure = (kind: ReviewKind) =>
      new Histogram({
        name: `apiserver_delegated_${kind}_request_duration_seconds`,
        help: 'Request latency in seconds. Broken down by status code.',
        labelNames: ['code'] as const,
        buckets: REVIEW_BUCKETS,
        registers,
      });
    this.#reviews = { authn: count('authn'), authz: count('authz') };
    this.#reviewDurations = { authn: measure('authn'), authz: measure('authz') };
  }

  recordAuthentication(result: 'success' | 'error'): void {
    countOne(this.#authentications, result);
  }

  recordAuthorization(result: 'allowed' | 'no-opinion' | 'error'): void {
    countOne(this.#authorizations, result);
  }

  recordTokenLookup(status: 'hit' | 'miss'): void {
    this.#tokenLookups.inc({ status });
  }

  /** @param remainingMs until the client's certificate expires; negative if it has expired */
  recordCertificate(remainingMs: number): void {
    this.#remaining.observe(remainingMs / 1000);
  }

  recordRefusedReview(kind: ReviewKind): void {
    this.#refusedReviews.inc({ kind });
  }

  /** @param code HTTP status, or `<error>` */
  recordReview(kind: ReviewKind, code: string, durationMs: number): void {
    this.#reviews[kind].inc({ code });
    this.#reviewDurations[kind].observe({ code }, durationMs / 1000);
  }
}

function countOne(counts: Map<string, number>, result: string): void {
  counts.set(result, (counts.get(result) ?? 0) + 1);
}
