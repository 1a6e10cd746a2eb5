import { z } from 'zod';
import { formatStatus } from '#lib/sources/http/http-client.ts';
import type { HttpRequester } from '#lib/sources/http/observed-requester.ts';
import { parseSourceUrl } from '#lib/sources/http/source-url.ts';
import { readQueryError } from '#lib/sources/http-apis/read-prometheus-response.ts';
import { readBoundedJson } from '#lib/sources/json/read-json.ts';
import { digest, extendTimeout, type Query } from '#lib/sources/query.ts';
import { EmptyResponseError, parseDecimal } from '#lib/sources/sample.ts';
import type { Clock } from '#lib/time/clock.ts';
import { formatTimestamp } from '#lib/time/timestamp.ts';
import { HTTP_AUTHENTICATION, httpIdentity } from './parameters/http-authentication.ts';
import { boolean, duration, float, keyValues, parameter, text, UNSAFE_SSL } from './parameters/parameter.ts';
import { above, defineTrigger, neededTarget, oneMetric, type Trigger } from './trigger.ts';
import type { TriggerEnvironment } from './trigger-environment.ts';

const parameters = z.object({
  serverAddress: parameter(text, 'URL of the server; `/api/v1/query` is appended.'),
  query: parameter(text, 'PromQL query, whose result must be a single series or a scalar.'),
  threshold: parameter(float.optional(), 'Target value per replica.'),
  activationThreshold: parameter(float.default(0), 'The trigger is active above this value.'),
  queryParameters: parameter(keyValues.optional(), 'Additional query parameters of the URL, as `k=v,k=v`.'),
  namespace: parameter(
    text.optional(),
    'Value of the query parameter `namespace` in the URL, for multi-tenant servers.',
  ),
  customHeaders: parameter(keyValues.optional(), 'Additional headers, as `k=v,k=v`.'),
  ignoreNullValues: parameter(
    boolean.default(true),
    'Whether an empty result counts as 0. If false, it is an error.',
  ),
  unsafeSsl: UNSAFE_SSL,
  timeout: parameter(duration.optional(), 'Timeout of a request.'),
  awsRegion: parameter(text.optional(), 'Not supported, because requests are not signed for AWS.', {
    from: ['metadata', 'authentication'],
    isUnsupported: true,
  }),
  identityOwner: parameter(text.optional(), 'Ignored, because requests are not signed for AWS.', {
    isUnsupported: true,
  }),
  ...HTTP_AUTHENTICATION,
});

/** Instant queries of Prometheus and compatible servers. */
export function prometheusTrigger({
  clients,
  clock,
  timeoutMs,
}: Pick<TriggerEnvironment, 'clients' | 'clock' | 'timeoutMs'>): Trigger {
  return defineTrigger({
    types: ['prometheus'],
    scalerName: () => 'prometheusScaler',
    description: 'The result of an instant query of Prometheus.',
    parameters,
    plan(given, request) {
      if (given.awsRegion !== undefined) throw new Error('parameter "awsRegion" is not supported');
      const read = parseSourceUrl(given.serverAddress);
      if (typeof read === 'string') throw new Error(`parameter "serverAddress" ${read}`);
      const target = neededTarget(
        given.threshold,
        request,
        'missing required parameter "threshold" in [triggerMetadata]',
      );
      const { credentials, headers } = httpIdentity(given, given.unsafeSsl);
      const http = clients.for(read.credentials ?? credentials, request);
      const endpoint = new URL(read.url);
      endpoint.pathname = `${endpoint.pathname.replace(/\/$/, '')}/api/v1/query`;
      endpoint.searchParams.set('query', given.query);
      for (const [name, value] of Object.entries(given.queryParameters ?? {}))
        endpoint.searchParams.append(name, value);
      if (given.namespace) endpoint.searchParams.append('namespace', given.namespace);
      const requestTimeoutMs = given.timeout ?? timeoutMs;
      const baseQuery = prometheusQuery({
        ...{ http, endpoint, clock },
        text: given.query,
        headers: { ...given.customHeaders, ...headers },
        timeoutMs: requestTimeoutMs,
        isEmptyZero: given.ignoreNullValues,
      });
      const query = extendTimeout(baseQuery, requestTimeoutMs);
      const evaluate = above(given.activationThreshold);
      return oneMetric({ name: 'prometheus', query, target, evaluate, isEmptyZero: given.ignoreNullValues });
    },
  });
}

interface QueryOptions {
  readonly http: HttpRequester;
  readonly endpoint: URL;
  readonly clock: Clock;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly isEmptyZero: boolean;
}

const SHOWN_LENGTH = 200;

function prometheusQuery({
  http,
  endpoint,
  clock,
  text,
  headers,
  timeoutMs,
  isEmptyZero,
}: QueryOptions): Query {
  const identity = [endpoint.href, http.credentialName, isEmptyZero, timeoutMs];
  return {
    key: JSON.stringify(['prometheus-trigger', ...identity, digest(headers)]), // may select a tenant
    description: `${text.slice(0, SHOWN_LENGTH)} of Prometheus at ${endpoint.host}`,
    source: endpoint.host,
    async run(signal) {
      const url = new URL(endpoint);
      url.searchParams.set('time', formatTimestamp(clock.nowMs()));
      const { statusCode, body, secrets } = await http.exchange({ url, headers, timeoutMs }, signal);
      if (statusCode < 200 || statusCode > 299) {
        const why = readQueryError(body);
        const detail = why === undefined ? '' : `: ${secrets.redact(why)}`;
        throw new Error(`prometheus query api returned error. status: ${formatStatus(statusCode)}${detail}`);
      }
      const value = readPrometheusValue(body, { query: text, isEmptyZero });
      return [value === undefined ? { value: 0, labels: {}, isPlaceholder: true } : { value, labels: {} }];
    },
  };
}

const SCHEMA = z.object({
  data: z.object({
    resultType: z.string().optional(),
    result: z.array(z.object({ value: z.array(z.unknown()).nullish() })),
  }),
});

interface PrometheusValueOptions {
  /** For messages. */
  readonly query: string;
  /** Whether an empty result is 0 instead of an error. */
  readonly isEmptyZero: boolean;
}

/** Limits parsed values; a valid response has a few. */
const MAX_VALUES = 40_000;
const LOST = "prometheus metrics 'prometheus' target may be lost, ";

/**
 * The value in the response to an instant query; `undefined` for an empty result that counts as 0.
 *
 * @throws {EmptyResponseError} for an empty result otherwise; an Error for several series or a value that is not a number
 */
export function readPrometheusValue(
  body: Buffer,
  { query, isEmptyZero }: PrometheusValueOptions,
): number | undefined {
  const { result } = parseResponse(body).data;
  const empty = (what: string) => {
    if (isEmptyZero) return undefined;
    throw new EmptyResponseError(LOST + what);
  };
  if (result.length === 0) return empty('the result is empty');
  if (result.length > 1) throw new Error(`prometheus query ${query} returned multiple elements`);
  const { value } = result[0] ?? {};
  if (!value || value.length === 0) return empty('the value list is empty');
  if (value.length < 2) throw new Error(`prometheus query ${query} didn't return enough values`);
  const [, sample] = value;
  if (sample === null) return 0; // as in KEDA
  const number = typeof sample === 'string' ? parseDecimal(sample) : undefined;
  if (number !== undefined) return number;
  if (sample === 'NaN' || sample === '+Inf' || sample === '-Inf') return empty(`the result is ${sample}`);
  throw new Error(`prometheus query ${query} returned no number`);
}

function parseResponse(body: Buffer): z.output<typeof SCHEMA> {
  const read = SCHEMA.safeParse(readBoundedJson(body, MAX_VALUES));
  if (!read.success) throw new Error('the response is not an instant vector; use vector() or an aggregation');
  return read.data;
}
