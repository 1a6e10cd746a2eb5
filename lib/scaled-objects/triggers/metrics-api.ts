import { isIP } from 'node:net';
import { z } from 'zod';
import { isDnsLabel } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { formatStatus } from '#lib/sources/http/http-client.ts';
import type { HttpRequester } from '#lib/sources/http/observed-requester.ts';
import { parseSourceUrl } from '#lib/sources/http/source-url.ts';
import { readLocatedValue, VALUE_FORMATS, type ValueFormat } from '#lib/sources/json/read-value.ts';
import { digest, extendTimeout, type Query } from '#lib/sources/query.ts';
import { AGGREGATORS } from '#lib/sources/sample.ts';
import { messageOf } from '#lib/telemetry/error-text.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';
import {
  AGGREGATIONS,
  type ListEndpoints,
  queryEndpoints,
  type ServiceEndpoints,
  type ServiceName,
} from './cluster-lookups.ts';
import { HTTP_AUTHENTICATION, httpIdentity } from './parameters/http-authentication.ts';
import {
  boolean,
  duration,
  float,
  oneOf,
  parameter,
  REQUEST_TIMEOUT,
  text,
  UNSAFE_SSL,
} from './parameters/parameter.ts';
import { above, defineTrigger, neededTarget, oneMetric, REQUIRED_TARGET, type Trigger } from './trigger.ts';
import type { TriggerEnvironment } from './trigger-environment.ts';

const parameters = z.object({
  url: parameter(text, 'URL that is requested, by GET.'),
  valueLocation: parameter(
    text,
    'Where the number is in the response: with format json or yaml, a path such as `a.b.0`; with prometheus, a series such as `name{a="b"}`.',
  ),
  targetValue: parameter(float.optional(), `Target value per replica; ${REQUIRED_TARGET}.`),
  activationTargetValue: parameter(float.default(0), 'The trigger is active above this value.'),
  format: parameter(
    oneOf(...VALUE_FORMATS).default('json'),
    `Format of the response: ${VALUE_FORMATS.join(', ')}; xml is not supported.`,
  ),
  unsafeSsl: UNSAFE_SSL,
  timeout: parameter(duration.optional(), `${REQUEST_TIMEOUT}.`),
  aggregateFromKubeServiceEndpoints: parameter(
    boolean.default(false),
    'Whether to query all ready endpoints of the Service that the URL names, and aggregate their values. The Service is in the namespace of the object, or in one of --shared-service-namespaces.',
  ),
  aggregationType: parameter(
    oneOf(...AGGREGATIONS).default('average'),
    `How to aggregate the values of several endpoints: ${AGGREGATIONS.join(', ')}. sum and max require a response from every endpoint.`,
  ),
  ...HTTP_AUTHENTICATION,
  apiKey: parameter(
    text.optional(),
    'API key for authMode apiKey. An API key in metadata is visible to everyone who can read the object.',
    { from: ['metadata', 'authentication'], isSecret: true },
  ),
  method: parameter(
    oneOf('header', 'query').default('header'),
    'Where to send the API key: header or query.',
    { from: ['metadata', 'authentication'] },
  ),
  keyParamName: parameter(
    text.optional(),
    'Name of the header or query parameter. By default, the header X-API-KEY or the query parameter api_key.',
    { from: ['metadata', 'authentication'] },
  ),
});

type MetricsApiEnvironment = Pick<
  TriggerEnvironment,
  'clients' | 'clock' | 'timeoutMs' | 'listEndpoints' | 'sharedServiceNamespaces'
>;

/** Timeout for polling all endpoints of a Service. */
const FLEET_TIMEOUT_MS = 15_000;
/** When to aggregate the values so far: a poll that exceeds its timeout has no value. */
const FLEET_DEADLINE_MS = 14_000;

/** A number in the response of any HTTP server. */
export function metricsApiTrigger({
  clients,
  clock,
  timeoutMs,
  listEndpoints,
  sharedServiceNamespaces,
}: MetricsApiEnvironment): Trigger {
  const serviceFor = (url: URL, namespace: string) => {
    const service = serviceIn(url);
    const shared = ['*', service.namespace].some((one) => sharedServiceNamespaces.includes(one));
    if (shared || service.namespace === namespace) return service;
    throw new Error(
      `parameter "url" must name a Service in namespace ${namespace}: the flag --shared-service-namespaces of the autoscaler does not name ${service.namespace}`,
    );
  };
  return defineTrigger({
    types: ['metrics-api'],
    scalerName: () => 'metricsAPIScaler',
    description: 'A number in the response of an HTTP server.',
    parameters,
    plan(given, request) {
      const read = parseSourceUrl(given.url);
      if (typeof read === 'string') throw new Error(`parameter "url" ${read}`);
      const target = neededTarget(given.targetValue, request, 'no targetValue given in metadata');
      const { credentials, headers, modes } = httpIdentity(given, given.unsafeSsl);
      const url = new URL(read.url);
      const key = modes.includes('apiKey') ? apiKeyOf(given) : undefined;
      if (key && given.method === 'query') url.searchParams.set(given.keyParamName ?? 'api_key', key);
      const requestTimeoutMs = given.timeout ?? timeoutMs;
      const baseQuery = locatedValueQuery({
        ...{ url, shown: read.url, http: clients.for(read.credentials ?? credentials, request) },
        headers: {
          ...headers,
          ...(key && given.method === 'header' ? { [given.keyParamName ?? 'X-API-KEY']: key } : {}),
        },
        location: given.valueLocation,
        format: given.format,
        timeoutMs: requestTimeoutMs,
        fleet: given.aggregateFromKubeServiceEndpoints
          ? { service: serviceFor(url, request.namespace), how: given.aggregationType, listEndpoints, clock }
          : undefined,
      });
      // The endpoints of a Service share one timeout, regardless of their number.
      const query = given.aggregateFromKubeServiceEndpoints
        ? baseQuery
        : extendTimeout(baseQuery, requestTimeoutMs);
      const name = `metric-api-${given.valueLocation}`;
      return oneMetric({ name, query, target, evaluate: above(given.activationTargetValue) });
    },
  });
}

function apiKeyOf({ apiKey }: { readonly apiKey?: string | undefined }): string {
  if (apiKey === undefined) throw new Error('missing required parameter "apiKey" in [authParams]');
  return apiKey.trim();
}

interface LocatedValueOptions {
  readonly url: URL;
  /** The URL without secrets, for messages. */
  readonly shown: URL;
  readonly http: HttpRequester;
  readonly headers: Readonly<Record<string, string>>;
  readonly location: string;
  readonly format: ValueFormat;
  readonly timeoutMs: number;
  /** The endpoints of a Service; `undefined` to query the URL itself. */
  readonly fleet:
    | {
        readonly service: ServiceName;
        readonly how: (typeof AGGREGATIONS)[number];
        readonly listEndpoints: ListEndpoints;
        readonly clock: Clock;
      }
    | undefined;
}

function locatedValueQuery(options: LocatedValueOptions): Query {
  const { url, shown, http, headers, location, format, timeoutMs, fleet } = options;
  const identity = digest([url.href, headers, timeoutMs]); // both may contain keys, and any header may select a tenant
  const among = fleet && [fleet.service, fleet.how];
  return {
    key: JSON.stringify([
      ...['metrics-api', shown.href, http.credentialName, identity, location, format],
      ...(among ?? []),
    ]),
    description: `${location.slice(0, 200)} at ${shown.host}${shown.pathname}`,
    source: url.host,
    ...(fleet ? { timeoutMs: FLEET_TIMEOUT_MS } : {}),
    async run(signal, note = () => {}) {
      if (!fleet) return [{ value: await queryUrl(url, options, signal), labels: {} }];
      const { service, how, listEndpoints, clock } = fleet;
      const name = `${service.namespace}/${service.service}`;
      const expired = () =>
        new Error(`Service ${name} has no value within ${formatDuration(FLEET_DEADLINE_MS)}`);
      using deadline = startDeadline(clock, FLEET_DEADLINE_MS, { signal, expired });
      const endpoints = await listEndpoints(service, deadline.signal);
      const query = (one: URL, until: AbortSignal) => queryUrl(one, options, until);
      const queryOptions = { aggregation: how, query, onPartial: note, deadline: deadline.signal };
      const urls = endpointUrls(url, endpoints);
      if (urls.length === 0) throw new Error(`Service ${name} has no ready endpoint`);
      const values = await queryEndpoints(urls, queryOptions, signal);
      return [{ value: AGGREGATORS[how === 'average' ? 'avg' : how](values), labels: {} }];
    },
  };
}

async function queryUrl(
  url: URL,
  { shown, http, headers, location, format, timeoutMs }: LocatedValueOptions,
  signal: AbortSignal,
): Promise<number> {
  const accepted = { accept: '*/*', ...headers };
  const isSlowToParse = format === 'yaml';
  const request = { url, headers: accepted, timeoutMs, isSlowToParse };
  const { statusCode, body } = await http.exchange(request, signal);
  if (statusCode !== 200)
    throw new Error(
      `error requesting metrics endpoint: ${shown.pathname}: api returned ${formatStatus(statusCode)}`,
    );
  try {
    return readLocatedValue(body, { location, format });
  } catch (cause) {
    const reason = messageOf(cause);
    throw new Error(`error requesting metrics endpoint: ${reason}`, { cause });
  }
}

const MAX_ENDPOINTS = 1000;

/** The Service in a URL with the host `SERVICE.NAMESPACE` or `SERVICE.NAMESPACE.…`. @throws for any other host */
function serviceIn({ hostname }: URL): ServiceName {
  const [service = '', namespace = ''] = isIP(hostname) === 0 ? hostname.split('.') : [];
  if (isDnsLabel(service) && isDnsLabel(namespace)) return { service, namespace };
  throw new Error(
    `parameter "url" must have the host SERVICE.NAMESPACE with aggregateFromKubeServiceEndpoints`,
  );
}

/** The URLs of endpoints, each address once, with the port of the URL if they have it, else with the default port of the scheme. */
export function endpointUrls(url: URL, endpoints: readonly ServiceEndpoints[]): readonly URL[] {
  const usual = url.protocol === 'https:' ? 443 : 80;
  const port = url.port === '' ? usual : Number(url.port);
  const urls = new Map<string, URL>();
  for (const { addresses, ports } of endpoints) {
    for (const address of addresses) {
      if (urls.has(address)) continue;
      if (urls.size === MAX_ENDPOINTS)
        throw new Error(`Service ${url.hostname} has more than ${MAX_ENDPOINTS} endpoints`);
      const host = isIP(address) === 6 ? `[${address}]` : address;
      const one = new URL(`${url.protocol}//${host}${ports.includes(port) ? `:${port}` : ''}`);
      one.pathname = url.pathname;
      one.search = url.search; // may contain a key
      urls.set(address, one);
    }
  }
  return [...urls.values()];
}
