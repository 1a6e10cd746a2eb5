import { goQuote } from '#lib/kubernetes/selectors/go-quote.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { ApiContext, Endpoint } from './http/api-context.ts';
import type { RequestInfo } from './http/request-info.ts';

const HEALTH_ENDPOINTS = ['healthz', 'livez', 'readyz'] as const;

export type HealthEndpoint = (typeof HEALTH_ENDPOINTS)[number];

/** A condition for the server to be healthy, alive or ready. */
export interface HealthCheck {
  /** Part of its path: `/livez/NAME`. */
  readonly name: string;
  /** Endpoints that include it. */
  readonly endpoints: readonly HealthEndpoint[];
  /** @returns why it fails; `undefined` when it passes */
  check(): string | undefined;
}

interface ServerChecks {
  /** Checks of the subsystems. */
  readonly own: readonly HealthCheck[];
  readonly isShuttingDown: () => boolean;
}

/**
 * All checks of a server, in the order in which Kubernetes' servers report them. The first four pass whenever the
 * server responds: the event loop runs. Probes exclude some of them by these names.
 */
export function allChecks({ own, isShuttingDown }: ServerChecks): readonly HealthCheck[] {
  return [
    ...ALWAYS_PASSING.map((name) => ({ name, endpoints: HEALTH_ENDPOINTS, check: () => undefined })),
    ...own,
    {
      name: 'shutdown',
      endpoints: ['readyz'],
      check: () => (isShuttingDown() ? 'process is shutting down' : undefined),
    },
  ];
}

const ALWAYS_PASSING = [
  'ping',
  'log',
  'poststarthook/max-in-flight-filter',
  'poststarthook/storage-object-count-tracker-hook',
];

/** The paths of probes, for all checks together and for each, as Kubernetes' `healthz` package serves them. */
export function healthEndpoints(
  checks: readonly HealthCheck[],
  logger: Logger,
): ReadonlyMap<string, Endpoint> {
  const paths = new Map<string, Endpoint>();
  for (const endpoint of HEALTH_ENDPOINTS) {
    const included = checks.filter(({ endpoints }) => endpoints.includes(endpoint));
    paths.set(`/${endpoint}`, (context) => respondToAll(context, { endpoint, checks: included, logger }));
    for (const check of included)
      paths.set(`/${endpoint}/${check.name}`, (context) => respondToOne(context, check));
  }
  return paths;
}

/** Withholds reasons from the public: they are logged, and shown to callers who may get a single check. */
function respondToAll(
  context: ApiContext,
  response: {
    readonly endpoint: HealthEndpoint;
    readonly checks: readonly HealthCheck[];
    readonly logger: Logger;
  },
): void {
  const { endpoint, checks, logger } = response;
  const excluded = new Set(context.state.query.getAll('exclude'));
  const failures: string[] = [];
  let report = '';
  for (const { name, check } of checks) {
    const reason = excluded.delete(name) ? 'excluded' : check();
    if (reason === undefined) report += `[+]${name} ok\n`;
    else if (reason === 'excluded') report += `[+]${name} excluded: ok\n`;
    else {
      report += `[-]${name} failed: reason withheld\n`;
      failures.push(`${name}: ${reason}`);
    }
  }
  if (excluded.size > 0) {
    const names = [...excluded].sort().map(goQuote).join(',');
    report += `warn: some health checks cannot be excluded: no matches for ${names}\n`;
  }
  context.set('X-Content-Type-Options', 'nosniff');
  if (failures.length > 0) {
    logger.info('Health check failed', { endpoint, failures: failures.join('; ') }, 2);
    writeText(context, `${report}${endpoint} check failed\n`, 500);
  } else {
    writeText(context, context.state.query.has('verbose') ? `${report}${endpoint} check passed\n` : 'ok');
  }
}

function respondToOne(context: ApiContext, { check }: HealthCheck): void {
  const reason = check();
  if (reason === undefined) {
    writeText(context, 'ok');
  } else {
    context.set('X-Content-Type-Options', 'nosniff');
    writeText(context, `internal server error: ${reason}\n`, 500);
  }
}

function writeText(context: ApiContext, text: string, status = 200): void {
  context.status = status;
  context.set('Content-Type', 'text/plain; charset=utf-8');
  context.body = text;
}

/**
 * Whether a request is for the overall health. Refusing it would make the kubelet restart a server that is only busy;
 * its response costs almost nothing.
 */
export function isProbe({ isResourceRequest, path }: RequestInfo): boolean {
  return !isResourceRequest && HEALTH_ENDPOINTS.some((name) => path === `/${name}`);
}
