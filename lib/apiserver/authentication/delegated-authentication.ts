import {
  type AuthenticationConfig,
  ClusterAuthenticationConfig,
  type FrontProxyConfig,
  type FrontProxyHeaders,
} from '#lib/apiserver/access/authentication-config.ts';
import { type Authenticator, authenticateInOrder } from '#lib/apiserver/access/authenticator.ts';
import { byBearerToken, tokenReviewer } from '#lib/apiserver/access/bearer-token.ts';
import { type CaBundle, parseCaBundle } from '#lib/apiserver/access/certificate-chain.ts';
import { byClientCertificate } from '#lib/apiserver/access/client-certificate.ts';
import { byFrontProxy } from '#lib/apiserver/access/front-proxy.ts';
import type { AccessTelemetry } from '#lib/apiserver/reviews/access-telemetry.ts';
import type { ReviewClient } from '#lib/apiserver/reviews/review-client.ts';
import { ReloadingFiles } from '#lib/kubernetes/access/reloading-files.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { describeError, type Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';

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
export interface DelegatedAuthenticationEnvironment {
  readonly client: ApiClient;
  readonly tokenReviews: ReviewClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry: AccessTelemetry;
}

/** An authenticator and what it follows. */
export interface DelegatedAuthentication extends AsyncDisposable {
  readonly authenticator: Authenticator;
}

/** Refusals are a caller's affair, and anybody can cause any number: they are logged for who looks for them. */
const REFUSAL_VERBOSITY = 2;

/**
 * Authenticates as aggregated servers do: front proxy, then client certificate, then bearer token, then anonymous.
 *
 * @throws when a file cannot be used, or the cluster refuses to tell whom to believe
 */
export async function startDelegatedAuthentication(
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
