import { goQuote } from '#lib/kubernetes/selectors/go-quote.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { ApiContext, Endpoint } from './http/api-context.ts';
import type { RequestInfo } from './http/request-info.ts';

/** The probes' paths. */
const HEALTH_ENDPOINTS = ['healthz', 'livez', 'readyz'] as const;

/** One of the paths that probes ask. */
export type HealthEndpoint = (typeof HEALTH_ENDPOINTS)[number];

/** Something that must be in order for the server to be healthy, alive or ready. */
export interface HealthCheck {
  /** Part of the path of its own: `/livez/NAME`. */
  readonly name: string;
  /** Which endpoints ask it. */
  readonly endpoints: readonly HealthEndpoint[];
  /** @returns why it is not in order; `undefined` when it is */
  check(): string | undefined;
}

/** What the checks look at. */
interface ServerChecks {
  /** The checks of what is served. */
  readonly own: readonly HealthCheck[];
  readonly isShuttingDown: () => boolean;
}

/**
 * All checks of a server, in the order in which Kubernetes' servers report them. To respond at all is what the
 * first four ask for: the event loop goes round. Probes know them by these names, and exclude some of them.
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

/** The paths at which probes ask, all together and one by one, as Kubernetes' `healthz` package serves them. */
export function healthEndpoints(
  checks: readonly HealthCheck[],
  logger: Logger,
): ReadonlyMap<string, Endpoint> {
  const paths = new Map<string, Endpoint>();
  for (const endpoint of HEALTH_ENDPOINTS) {
    const asked = checks.filter(({ endpoints }) => endpoints.includes(endpoint));
    paths.set(`/${endpoint}`, (context) => respondToAll(context, { endpoint, checks: asked, logger }));
    for (const check of asked)
      paths.set(`/${endpoint}/${check.name}`, (context) => respondToOne(context, check));
  }
  return paths;
}

/** Tells no reasons to the public: they go to the log, and to those who may ask for one check alone. */
function respondToAll(
  context: ApiContext,
  asked: {
    readonly endpoint: HealthEndpoint;
    readonly checks: readonly HealthCheck[];
    readonly logger: Logger;
  },
): void {
  const { endpoint, checks, logger } = asked;
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
 * Whether a request asks for our health as a whole. Refusing such would have the kubelet restart a server that is only
 * busy; their responses cost nothing.
 */
export function isProbe({ isResourceRequest, path }: RequestInfo): boolean {
  return !isResourceRequest && HEALTH_ENDPOINTS.some((name) => path === `/${name}`);
}
