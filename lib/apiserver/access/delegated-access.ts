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
import { type Authenticator, unionAuthenticator } from './authenticator.ts';
import type { Authorizer, Decision, PathRules } from './authorizer.ts';
import { bearerTokenAuthenticator, tokenReviewer } from './bearer-token.ts';
import { type CaBundle, parseCaBundle } from './certificate-chain.ts';
import { x509Authenticator } from './client-certificate.ts';
import { delegatedAuthorizer } from './delegated-authorizer.ts';
import { requestHeaderAuthenticator } from './front-proxy.ts';
import { ReviewClient } from './review-client.ts';

/** Many times the size of a review or of the config map. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

/** Options of delegated authentication and authorization. */
export interface DelegatedAccessOptions {
  readonly authentication: DelegatedAuthenticationOptions;
  readonly authorization: {
    readonly alwaysAllowed: PathRules;
    readonly authorizedTtlMs: number;
    readonly unauthorizedTtlMs: number;
  };
}

interface DelegatedAccessEnvironment {
  /** For the API server that reviews tokens. */
  readonly authenticationAccess: ClusterAccess;
  /** For the API server that reviews permissions. */
  readonly authorizationAccess: ClusterAccess;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly userAgent: string;
  readonly registry: Registry;
}

interface DelegatedAccess extends AsyncDisposable {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
}

/**
 * Delegates authentication and authorization to the cluster's API server, as every aggregated server does.
 *
 * @throws when a file cannot be used, or the cluster forbids reading its configuration of authentication
 */
export async function startDelegatedAccess(
  { authentication, authorization }: DelegatedAccessOptions,
  environment: DelegatedAccessEnvironment,
): Promise<DelegatedAccess> {
  await using starting = new AsyncDisposableStack();
  const { authenticationAccess, authorizationAccess, clock, logger, userAgent } = environment;
  const common = { clock, userAgent, maxResponseBytes: MAX_RESPONSE_BYTES };
  const authenticationClient = starting.use(new ApiClient({ ...common, access: authenticationAccess }));
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
      client: authenticationClient,
      tokenReviews: reviews(authenticationClient, 'TokenReview', 'authn'),
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
    // Cached decisions come without a promise and never fail.
    const decision = authorizer(attributes);
    return decision instanceof Promise ? decision.then(counted, fail) : counted(decision);
  };
}

export interface DelegatedAuthenticationOptions {
  /** PEM of the authorities that sign users' certificates; by default those of the cluster. */
  readonly clientCaFile: string | undefined;
  /**
   * PEM of the authorities that sign the front proxy's certificate; by default the cluster's whole configuration
   * counts.
   */
  readonly frontProxyCaFile: string | undefined;
  readonly frontProxyAllowedNames: readonly string[];
  readonly frontProxyHeaders: FrontProxyHeaders;
  /** Whether to leave the cluster's configuration out. */
  readonly skipLookup: boolean;
  readonly tolerateLookupFailure: boolean;
  readonly tokenCacheTtlMs: number;
}

interface DelegatedAuthenticationEnvironment {
  readonly client: ApiClient;
  readonly tokenReviews: ReviewClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry: AccessTelemetry;
}

interface DelegatedAuthentication extends AsyncDisposable {
  readonly authenticator: Authenticator;
}

/** Refusals are the caller's problem, and any caller can cause many: they are logged at a higher verbosity. */
const REFUSAL_VERBOSITY = 2;

/**
 * Authenticates as aggregated servers do: front proxy, client certificate, bearer token, anonymous.
 *
 * @throws when a file cannot be used, or the cluster forbids reading its configuration of authentication
 */
async function startDelegatedAuthentication(
  options: DelegatedAuthenticationOptions,
  { client, tokenReviews, clock, logger, telemetry }: DelegatedAuthenticationEnvironment,
): Promise<DelegatedAuthentication> {
  await using starting = new AsyncDisposableStack();
  const watch = async (path: string | undefined, what: string) =>
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
  const clientCa = await watch(options.clientCaFile, 'the client CA');
  const frontProxyCa = await watch(options.frontProxyCaFile, 'the front proxy CA');
  const readsCluster = !options.skipLookup && !(clientCa && frontProxyCa);
  const { tolerateLookupFailure: isFailureTolerated } = options;
  const cluster = readsCluster
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
  const authenticator = unionAuthenticator(
    [
      requestHeaderAuthenticator(config, clock),
      x509Authenticator(config, { clock, telemetry }),
      bearerTokenAuthenticator(review),
    ],
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
