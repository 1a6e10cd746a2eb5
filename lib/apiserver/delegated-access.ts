import type { Registry } from 'prom-client';
import { AccessTelemetry, type ReviewKind } from '#lib/apiserver/reviews/access-telemetry.ts';
import { ReviewClient } from '#lib/apiserver/reviews/review-client.ts';
import { DEFAULT_REVIEW_LIMITS, ReviewGate } from '#lib/apiserver/reviews/review-gate.ts';
import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { Authenticator } from './access/authenticator.ts';
import type { Authorizer, Decision, PathRules } from './access/authorizer.ts';
import { delegatedAuthorizer } from './access/delegated-authorizer.ts';
import {
  type DelegatedAuthenticationOptions,
  startDelegatedAuthentication,
} from './authentication/delegated-authentication.ts';

/** Many times what a review, or the config map of whom to believe, has. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

/** Who may come in, and what they may do, as far as flags say and not the cluster. */
export interface DelegatedAccessOptions {
  readonly authentication: DelegatedAuthenticationOptions;
  readonly authorization: {
    readonly alwaysAllowed: PathRules;
    readonly authorizedTtlMs: number;
    readonly unauthorizedTtlMs: number;
  };
}

/** What delegated access needs from outside. */
export interface DelegatedAccessEnvironment {
  /** Of the API server that is asked who somebody is. */
  readonly authenticationAccess: ClusterAccess;
  /** Of the API server that is asked what somebody may do. */
  readonly authorizationAccess: ClusterAccess;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly userAgent: string;
  readonly registry: Registry;
}

/** Who decides about every request. */
export interface DelegatedAccess extends AsyncDisposable {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
}

/**
 * Lets the cluster's API server say who comes in and what they may do, as every aggregated server does.
 *
 * @throws when a file cannot be used, or the cluster refuses to tell whom to believe
 */
export async function startDelegatedAccess(
  { authentication, authorization }: DelegatedAccessOptions,
  environment: DelegatedAccessEnvironment,
): Promise<DelegatedAccess> {
  await using starting = new AsyncDisposableStack();
  const { authenticationAccess, authorizationAccess, clock, logger, userAgent } = environment;
  const common = { clock, userAgent, maxResponseBytes: MAX_RESPONSE_BYTES };
  const asked = starting.use(new ApiClient({ ...common, access: authenticationAccess }));
  const decider = starting.use(new ApiClient({ ...common, access: authorizationAccess }));
  const telemetry = new AccessTelemetry(environment.registry);
  const reviews = (client: ApiClient, kind: string, series: ReviewKind) =>
    new ReviewClient({
      client,
      clock,
      logger,
      kind,
      onResponse: (code, durationMs) => telemetry.recordReview(series, code, durationMs),
      gate: new ReviewGate(DEFAULT_REVIEW_LIMITS, () => telemetry.recordRefusedReview(series)),
    });
  const { authenticator } = starting.use(
    await startDelegatedAuthentication(authentication, {
      client: asked,
      tokenReviews: reviews(asked, 'TokenReview', 'authn'),
      clock,
      logger,
      telemetry,
    }),
  );
  const authorizer = delegatedAuthorizer({
    ...authorization,
    client: reviews(decider, 'SubjectAccessReview', 'authz'),
    clock,
  });
  const started = starting.move();
  return {
    authenticator: countedAuthenticator(authenticator, telemetry),
    authorizer: countedAuthorizer(authorizer, telemetry),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

function countedAuthenticator(authenticator: Authenticator, telemetry: AccessTelemetry): Authenticator {
  const counted = (user: Awaited<ReturnType<Authenticator>>) => {
    telemetry.recordAuthentication(user ? 'success' : 'error');
    return user;
  };
  return (credentials) => {
    const found = authenticator(credentials);
    return found instanceof Promise ? found.then(counted) : counted(found);
  };
}

function countedAuthorizer(authorizer: Authorizer, telemetry: AccessTelemetry): Authorizer {
  const counted = (decision: Decision) => {
    telemetry.recordAuthorization(decision.isAllowed ? 'allowed' : 'no-opinion');
    return decision;
  };
  const fail = (error: unknown): never => {
    telemetry.recordAuthorization('error');
    throw error;
  };
  return (attributes) => {
    // What it knows already it gives without a promise, and never fails at.
    const decision = authorizer(attributes);
    return decision instanceof Promise ? decision.then(counted, fail) : counted(decision);
  };
}
