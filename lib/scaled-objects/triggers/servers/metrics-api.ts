import { z } from 'zod';
import { digestOf } from '#lib/sources/digest.ts';
import type { HttpRequester } from '#lib/sources/http/request-tally.ts';
import { parseSourceUrl } from '#lib/sources/http/source-url.ts';
import type { Query } from '#lib/sources/query.ts';
import { HTTP_AUTHENTICATION, httpIdentity } from '../../parameters/http-authentication.ts';
import {
  AUTHENTICATION,
  boolean,
  duration,
  float,
  METADATA,
  oneOf,
  parameter,
  text,
  UNSAFE_SSL,
} from '../../parameters/parameter.ts';
import { parametersOf } from '../../parameters/parameters-of.ts';
import type { HttpTriggerOptions } from '../databases/prometheus.ts';
import { above, neededTarget, oneMetric, type Trigger } from '../trigger.ts';
import { readLocatedValue, VALUE_FORMATS, type ValueFormat } from './located-value.ts';

const parameters = z.object({
  url: parameter(text, { from: METADATA, description: 'What is asked for, by GET.' }),
  valueLocation: parameter(text, {
    from: METADATA,
    description:
      'Where the number is: a path as `a.b.0` of JSON, YAML or XML, a series as `name{a="b"}` of prometheus.',
  }),
  targetValue: parameter(float.optional(), { from: METADATA, description: 'What one replica is to have.' }),
  activationTargetValue: parameter(float.default(0), {
    from: METADATA,
    description: 'Above this the trigger is active.',
    default: '0',
  }),
  format: parameter(oneOf(...VALUE_FORMATS).default('json'), {
    from: METADATA,
    description: `What the response is, of ${VALUE_FORMATS.join(', ')}.`,
    default: 'json',
  }),
  unsafeSsl: UNSAFE_SSL,
  timeout: parameter(duration.optional(), { from: METADATA, description: 'How long a request may take.' }),
  aggregateFromKubeServiceEndpoints: parameter(boolean.default(false), {
    from: METADATA,
    description: 'Not supported: whether all endpoints of a Service are asked.',
    default: 'false',
  }),
  ...HTTP_AUTHENTICATION,
  apiKey: parameter(text.optional(), { from: AUTHENTICATION, description: 'The key of apiKey.' }),
  method: parameter(oneOf('header', 'query').default('header'), {
    from: ['metadata', 'authentication'],
    description: 'Where the key goes: header or query.',
    default: 'header',
  }),
  keyParamName: parameter(text.optional(), {
    from: ['metadata', 'authentication'],
    description: 'What it is called there. By default X-API-KEY, in the query api_key.',
  }),
});

/** A number in the response of any HTTP server. */
export function metricsApiTrigger({ clients, timeoutMs }: Omit<HttpTriggerOptions, 'clock'>): Trigger {
  return {
    types: ['metrics-api'],
    description: 'A number in the response of an HTTP server.',
    parameters,
    plan(request) {
      const given = parametersOf(parameters, request);
      const read = parseSourceUrl(given.url);
      if (typeof read === 'string') throw new Error(`parameter "url" ${read}`);
      if (given.aggregateFromKubeServiceEndpoints)
        throw new Error('parameter "aggregateFromKubeServiceEndpoints" value "true" is not supported');
      const target = neededTarget(given.targetValue, request, 'no targetValue given in metadata');
      const { credentials, headers, modes } = httpIdentity(given, given.unsafeSsl);
      const url = new URL(read.url);
      const key = modes.includes('apiKey') ? apiKeyOf(given) : undefined;
      if (key && given.method === 'query') url.searchParams.set(given.keyParamName ?? 'api_key', key);
      const query = locatedValueQuery({
        ...{ url, shown: read.url, http: clients.for(read.credentials ?? credentials, request) },
        headers: {
          ...headers,
          ...(key && given.method === 'header' ? { [given.keyParamName ?? 'X-API-KEY']: key } : {}),
        },
        location: given.valueLocation,
        format: given.format,
        timeoutMs: given.timeout ?? timeoutMs,
      });
      const name = `metric-api-${given.valueLocation}`;
      return oneMetric({ name, query, target, judge: above(given.activationTargetValue) });
    },
  };
}

function apiKeyOf({ apiKey }: { readonly apiKey?: string | undefined }): string {
  if (apiKey === undefined) throw new Error('missing required parameter "apiKey" in [authParams]');
  return apiKey.trim();
}

interface LocatedValueOptions {
  readonly url: URL;
  /** Without what is secret. */
  readonly shown: URL;
  readonly http: HttpRequester;
  readonly headers: Readonly<Record<string, string>>;
  readonly location: string;
  readonly format: ValueFormat;
  readonly timeoutMs: number;
}

function locatedValueQuery(options: LocatedValueOptions): Query {
  const { url, shown, http, headers, location, format, timeoutMs } = options;
  const identity = digestOf([url.href, headers, timeoutMs]); // keys are in either, and any header may say whose numbers these are
  return {
    key: JSON.stringify(['metrics-api', shown.href, http.credentialName, identity, location, format]),
    description: `${location.slice(0, 200)} at ${shown.host}${shown.pathname}`,
    async ask(signal) {
      const accepted = { accept: '*/*', ...headers };
      const { statusCode, body } = await http.exchange({ url, headers: accepted, timeoutMs }, signal);
      if (statusCode !== 200)
        throw new Error(`error requesting metrics endpoint: ${shown.pathname}: api returned ${statusCode}`);
      try {
        return [{ value: readLocatedValue(body, { location, format }), labels: {} }];
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`error requesting metrics endpoint: ${reason}`, { cause });
      }
    },
  };
}
