import type { Registry } from 'prom-client';
import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import { ReloadingFiles } from '#lib/kubernetes/access/reloading-files.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { AccessTelemetry, type ReviewKind } from './access-telemetry.ts';
import {
  type AuthenticationConfig,
  ClusterAuthenticationConfig,
  type FrontProxyConfig,
  type FrontProxyHeaders,
} from './authentication-config.ts';
import { type Authenticator, authenticateInOrder } from './authenticator.ts';
import type { Authorizer, Decision, PathRules } from './authorizer.ts';
import { byBearerToken, tokenReviewer } from './bearer-token.ts';
import { type CaBundle, parseCaBundle } from './certificate-chain.ts';
import { byClientCertificate } from './client-certificate.ts';
import { delegatedAuthorizer } from './delegated-authorizer.ts';
import { byFrontProxy } from './front-proxy.ts';
import { ReviewClient } from './review-client.ts';

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
interface DelegatedAccessEnvironment {
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
interface DelegatedAccess extends AsyncDisposable {
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
      onRefused: () => telemetry.recordRefusedReview(series),
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

/** Whom to believe, as flags say. */
export interface DelegatedAuthenticationOptions {
  /** PEM of who signs users' certificates; where it is not given, the cluster tells. */
  readonly clientCaFile: string | undefined;
  /** PEM of who signs the front proxy's certificate; where it is not given, the cluster tells that and all the rest. */
  readonly frontProxyCaFile: string | undefined;
  readonly frontProxyAllowedNames: readonly string[];
  readonly frontProxyHeaders: FrontProxyHeaders;
  /** Whether the cluster is not to be asked. */
  readonly skipLookup: boolean;
  readonly tolerateLookupFailure: boolean;
  readonly tokenCacheTtlMs: number;
}

/** What delegated authentication needs from outside. */
interface DelegatedAuthenticationEnvironment {
  readonly client: ApiClient;
  readonly tokenReviews: ReviewClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry: AccessTelemetry;
}

/** An authenticator and what it follows. */
interface DelegatedAuthentication extends AsyncDisposable {
  readonly authenticator: Authenticator;
}

/** Refusals are a caller's affair, and anybody can cause any number: they are logged for who looks for them. */
const REFUSAL_VERBOSITY = 2;

/**
 * Authenticates as aggregated servers do: front proxy, then client certificate, then bearer token, then anonymous.
 *
 * @throws when a file cannot be used, or the cluster refuses to tell whom to believe
 */
async function startDelegatedAuthentication(
  options: DelegatedAuthenticationOptions,
  { client, tokenReviews, clock, logger, telemetry }: DelegatedAuthenticationEnvironment,
): Promise<DelegatedAuthentication> {
  await using starting = new AsyncDisposableStack();
  const follow = async (path: string | undefined, what: string) =>
    path === undefined
      ? undefined
      : starting.use(
          await ReloadingFiles.open({
            paths: [path],
            what,
            read: ([text = '']) => parseCaBundle(text),
            clock,
            logger,
          }),
        );
  const clientCa = await follow(options.clientCaFile, 'the client CA');
  const frontProxyCa = await follow(options.frontProxyCaFile, 'the front proxy CA');
  const isAsked = !options.skipLookup && !(clientCa && frontProxyCa);
  const { tolerateLookupFailure: isFailureTolerated } = options;
  const cluster = isAsked
    ? starting.use(await ClusterAuthenticationConfig.start({ client, clock, logger, isFailureTolerated }))
    : undefined;

  const config = (): AuthenticationConfig => ({
    clientAuthorities: clientCa ? clientCa.current : cluster?.clientAuthorities,
    frontProxy: frontProxyCa ? frontProxyOf(frontProxyCa.current, options) : cluster?.frontProxy,
  });
  const review = tokenReviewer({
    client: tokenReviews,
    clock,
    cacheTtlMs: options.tokenCacheTtlMs,
    onLookup: (status) => telemetry.recordTokenLookup(status),
  });
  const authenticator = authenticateInOrder(
    [byFrontProxy(config, clock), byClientCertificate(config, { clock, telemetry }), byBearerToken(review)],
    (reasons) => {
      const err = reasons.map(describeError).join('; ');
      logger.info('Unable to authenticate the request', { err }, REFUSAL_VERBOSITY);
    },
  );
  const started = starting.move();
  return { authenticator, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

function frontProxyOf(authorities: CaBundle, options: DelegatedAuthenticationOptions): FrontProxyConfig {
  const { frontProxyAllowedNames: allowedNames, frontProxyHeaders: headers } = options;
  return { authorities, allowedNames, headers };
}
