import { z } from 'zod';
import { parseSourceUrl } from '#lib/sources/http/source-url.ts';
import { PrometheusServer } from '#lib/sources/http-apis/prometheus-server.ts';
import { extendTimeout } from '#lib/sources/query.ts';
import { HTTP_AUTHENTICATION, httpIdentity } from './parameters/http-authentication.ts';
import {
  boolean,
  duration,
  float,
  keyValues,
  parameter,
  REQUEST_TIMEOUT,
  text,
  UNSAFE_SSL,
} from './parameters/parameter.ts';
import { above, defineTrigger, neededTarget, oneMetric, REQUIRED_TARGET, type Trigger } from './trigger.ts';
import type { TriggerEnvironment } from './trigger-environment.ts';

const parameters = z.object({
  serverAddress: parameter(text, 'URL of the server; `/api/v1/query` is appended.'),
  query: parameter(text, 'PromQL query, whose result must be a single series or a scalar.'),
  threshold: parameter(float.optional(), `Target value per replica; ${REQUIRED_TARGET}.`),
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
  timeout: parameter(duration.optional(), `${REQUEST_TIMEOUT}.`),
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
      const parameters = Object.entries(given.queryParameters ?? {});
      if (given.namespace) parameters.push(['namespace', given.namespace]);
      const requestTimeoutMs = given.timeout ?? timeoutMs;
      const baseQuery = new PrometheusServer({ http, url: read.url }).valueQuery(given.query, {
        ...{ clock, parameters, timeoutMs: requestTimeoutMs, isEmptyZero: given.ignoreNullValues },
        headers: { ...given.customHeaders, ...headers },
      });
      const query = extendTimeout(baseQuery, requestTimeoutMs);
      const evaluate = above(given.activationThreshold);
      return oneMetric({ name: 'prometheus', query, target, evaluate, isEmptyZero: given.ignoreNullValues });
    },
  });
}
