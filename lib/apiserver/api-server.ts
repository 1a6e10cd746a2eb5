import Koa from 'koa';
import type { Registry } from 'prom-client';
import { TimeSlices } from '#lib/concurrency/event-loop.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { type Authenticator, alwaysAnonymous } from './access/authenticator.ts';
import { type Authorizer, alwaysAllow } from './access/authorizer.ts';
import {
  OPENAPI_V3_ROOT,
  OpenApiDocuments,
  openApiV2Endpoint,
  openApiV3Endpoint,
  openApiV3IndexEndpoint,
} from './discovery/openapi-endpoints.ts';
import type { VersionInfo } from './discovery/version-info.ts';
import { allChecks, type HealthCheck, healthEndpoints } from './health.ts';
import type { Endpoint, RequestState } from './http/api-context.ts';
import {
  authenticate,
  type BrowserSignIn,
  reserveConnections,
  signInBrowsers,
} from './middleware/authenticate.ts';
import { authorize } from './middleware/authorize.ts';
import { finishBody, limitDelivery } from './middleware/deliver-response.ts';
import {
  DEFAULT_IN_FLIGHT_LIMITS,
  type InFlightLimits,
  limitInFlight,
} from './middleware/limit-in-flight.ts';
import { limitHeaders, readRequest } from './middleware/read-request.ts';
import { requestDeadline } from './middleware/request-deadline.ts';
import { accountResponse, DEFAULT_MAX_BUFFERED_BYTES, ResponseBudget } from './middleware/response-budget.ts';
import { statusErrors } from './middleware/status-errors.ts';
import type { ApiGroup } from './resources/api-group.ts';
import { DEFAULT_MAX_WATCHERS, WatchServer } from './resources/watch-server.ts';
import { endpointRoutes, groupRoutes, RecentRoutes, unknownPath } from './routes.ts';
import type { ConnectionLimits, ReservationKind } from './serving/connection-gate.ts';
import { type ConnectionTimeouts, type ListenAddress, SecureServer } from './serving/secure-server.ts';
import type { ServingCertificates } from './serving/serving-certificates.ts';
import { ServingTelemetry } from './serving/serving-telemetry.ts';
import type { TlsSettings } from './serving/tls-context.ts';

export interface ApiServerOptions extends ListenAddress {
  readonly groups: readonly ApiGroup[];
  /** Title in the API's description; by default, an aggregated API server. */
  readonly title?: string;
  /** Probed after the checks that every API server has. */
  readonly healthChecks: readonly HealthCheck[];
  /** Served at `/metrics`. */
  readonly registry: Registry;
  /** Served beside the groups, by path, to callers who are allowed to get them. */
  readonly endpoints?: ReadonlyMap<string, Endpoint>;
  /** Paths among these that browsers open, and the form they get without credentials; none by default. */
  readonly signIn?: BrowserSignIn | undefined;
  readonly version: VersionInfo;
  readonly certificates: ServingCertificates;
  readonly tls?: TlsSettings;
  readonly maxStreamsPerConnection?: number;
  readonly timeouts?: ConnectionTimeouts;
  readonly connectionLimits?: ConnectionLimits;
  readonly clock: Clock;
  readonly logger: Logger;
  /** By default, every caller is anonymous. */
  readonly authenticator?: Authenticator;
  /** By default, everything is allowed. */
  readonly authorizer?: Authorizer;
  readonly inFlightLimits?: InFlightLimits;
  readonly maxWatchers?: number;
  /** Maximum bytes of responses that clients have not read yet. */
  readonly maxBufferedBytes?: number;
  /** Timeout for making a response, and again for reading it. */
  readonly requestTimeoutMs?: number;
  /** How long to continue serving, not ready, after disposal begins; 0 by default. */
  readonly shutdownDelayMs?: number;
  /** Timeout of requests in progress after that. */
  readonly drainMs?: number;
}

/** A running API server. Disposal makes /readyz fail, then drains the server. */
export interface ApiServer extends AsyncDisposable {
  readonly address: { readonly address: string; readonly port: number };
}

const REQUEST_TIMEOUT_MS = 60_000;
const DRAIN_MS = 1_500;
const TITLE = 'Aggregated API server';

/**
 * Serves API groups over HTTPS.
 *
 * @throws when it cannot listen on the address or the certificate cannot be used
 */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { groups, registry, version, clock, logger } = options;
  let server: SecureServer | undefined;
  let isShuttingDown = false;
  const checks = allChecks({ own: options.healthChecks, isShuttingDown: () => isShuttingDown });
  const openApi = new OpenApiDocuments({
    groups,
    info: { title: options.title ?? TITLE, version: version.gitVersion },
    clock,
  });
  const endpoints = new Map<string, Endpoint>([
    ...healthEndpoints(checks, logger),
    ['/metrics', metricsEndpoint(registry, clock)],
    ['/openapi/v2', openApiV2Endpoint(openApi)],
    ['/openapi/v3', openApiV3IndexEndpoint(openApi)],
    [OPENAPI_V3_ROOT, openApiV3Endpoint(openApi, clock)],
    ...(options.endpoints ?? []),
  ]);
  const draining = new AbortController();
  const telemetry = new ServingTelemetry(registry, {
    connections: () => server?.connectionCount ?? 0,
    handshakes: () => server?.handshakeCount ?? 0,
    bufferedBytes: () => responses.bufferedBytes,
    waitingResponses: () => responses.waitingCount,
  });
  const responses = new ResponseBudget({
    maxBytes: options.maxBufferedBytes ?? DEFAULT_MAX_BUFFERED_BYTES,
    clock,
    onRefused: () => telemetry.recordRefusal('held_responses'),
  });
  const watches = new WatchServer({
    clock,
    draining: draining.signal,
    random: Math.random,
    maxWatchers: options.maxWatchers ?? DEFAULT_MAX_WATCHERS,
    onRefused: (reason) => telemetry.recordRefusal(reason),
  });
  const app = createApp(options, {
    ...{ endpoints, telemetry, responses, watches },
    serverAddress: () => `:${server?.address.port ?? options.port}`,
    reserveAddress: (address, kind) => server?.noteAddress(address, kind),
  });

  const serving = await SecureServer.start({
    ...options,
    drainMs: options.drainMs ?? DRAIN_MS,
    onRequest: app.callback(),
    onRefused: (reason) => telemetry.recordRefusal(reason),
    onIdle: () => telemetry.recordIdleConnection(),
  });
  server = serving;
  return {
    address: serving.address,
    [Symbol.asyncDispose]: async () => {
      isShuttingDown = true;
      const { shutdownDelayMs = 0 } = options;
      if (shutdownDelayMs > 0) await clock.sleep(shutdownDelayMs);
      draining.abort(); // watches would continue to the end of their timeouts
      await serving[Symbol.asyncDispose]();
    },
  };
}

/** Parts of the handler chain beside the options. */
interface ServerParts {
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly telemetry: ServingTelemetry;
  readonly responses: ResponseBudget;
  readonly watches: WatchServer;
  serverAddress(): string;
  reserveAddress(address: string | undefined, kind: ReservationKind): void;
}

/**
 * The handler chain, in the order of Kubernetes' `DefaultBuildHandlerChain`. A request passes it from top to bottom,
 * and what follows `next()` runs from bottom to top; koa sends the response when the first is done.
 */
function createApp(options: ApiServerOptions, parts: ServerParts): Koa<RequestState> {
  const { groups, version, clock, logger, requestTimeoutMs: maxMs = REQUEST_TIMEOUT_MS } = options;
  const { endpoints, telemetry, responses, watches, serverAddress, reserveAddress } = parts;
  const slices = new TimeSlices();
  const recent = new RecentRoutes();
  const app = new Koa<RequestState>();
  app.on('error', (error) => logger.info('Cannot send response', { err: String(error) }, 2));

  app.use(limitDelivery({ clock, telemetry, maxMs })); // after: the client's time to read begins, also for refusals
  app.use(statusErrors(logger)); // after: makes a Status of errors
  app.use(limitHeaders(telemetry)); // 414, 431
  app.use(readRequest);
  app.use((context, next) => {
    context.state.slices = slices;
    return next();
  });
  app.use(finishBody); // after: waits for memory, compresses
  app.use(requestDeadline({ clock, maxMs })); // 504
  if (options.signIn) app.use(signInBrowsers(options.signIn)); // after: responds with a form instead of 401 and 403
  app.use(authenticate(options.authenticator ?? alwaysAnonymous)); // 401
  app.use(reserveConnections(reserveAddress));
  app.use(limitInFlight(options.inFlightLimits ?? DEFAULT_IN_FLIGHT_LIMITS, telemetry)); // 429
  app.use(accountResponse(responses));
  app.use(authorize(options.authorizer ?? alwaysAllow)); // 403, before anything is looked up
  app.use(recent.middleware);
  app.use(groupRoutes({ groups, version, watches, recent, serverAddress }).routes()); // 405, 415, 406 by route
  app.use(endpointRoutes(endpoints).routes());
  app.use(unknownPath(groups, endpoints)); // 404, 405
  return app;
}

/** Prometheus' text format, with the parameter by which newer servers declare the escaping of names. */
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores';

/** Serves the series of a registry, in the text format whatever the Accept header says, as the reference does. */
function metricsEndpoint(registry: Registry, clock: Clock): Endpoint {
  const startedAt = String(Math.floor(clock.nowMs() / 1000));
  return async (context) => {
    const text = await registry.metrics();
    context.set('Content-Type', CONTENT_TYPE);
    context.set('Process-Start-Time-Unix', startedAt);
    context.state.gzipFromBytes = 0;
    context.body = Buffer.from(text);
  };
}
