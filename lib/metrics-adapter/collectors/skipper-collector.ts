import { z } from 'zod';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { objectPath } from '#lib/kubernetes/client/api-resource.ts';
import type { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { readAs } from '#lib/kubernetes/objects/find-wrong-field.ts';
import { measureObject, propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { PrometheusServer } from '#lib/sources/http-apis/prometheus-server.ts';
import type { Query } from '#lib/sources/query.ts';
import type { DescribedObject, HpaMetric } from '../collected-metrics.ts';
import { hostQuery } from './host-rate-collector.ts';
import { type MetricCollector, readSettings, text } from './metric-collector.ts';

interface SkipperCollectorOptions {
  readonly server: PrometheusServer;
  readonly client: Pick<ApiClient, 'getJson'>;
  readonly mapper: Pick<RestMapper, 'find'>;
  readonly ingresses: boolean;
  readonly routeGroups: boolean;
  /** Annotations of Ingresses with the weights of backends. */
  readonly backendsAnnotations: readonly string[];
}

const METRIC = 'requests-per-second';
const SERIES = 'skipper_serve_host_duration_seconds_count';
const INGRESS_GROUPS = ['networking.k8s.io', 'extensions'];

const settings = z.object({
  backend: text
    .optional()
    .describe(
      'Name of the backend whose requests are counted, if requests are distributed among several backends. Alternatively, append the name to the name of the metric, after a comma.',
    ),
});

/** Requests per second that Skipper serves for an Ingress or a RouteGroup, from Prometheus, for an Object metric. */
export function skipperCollector(options: SkipperCollectorOptions): MetricCollector {
  const { ingresses, routeGroups } = options;
  const isOurs = (object: DescribedObject | undefined) =>
    (ingresses && isIngress(object)) || (routeGroups && isRouteGroup(object));
  return {
    name: 'skipper',
    legacyMetrics: [],
    types: ['Object'],
    settings,
    claims: ({ name, describedObject }) => isMetric(name) && isOurs(describedObject),
    dividesByReplicas: ({ targetsAverage }) => !targetsAverage,
    queryOf(request): Query {
      const { metric, hpa } = request;
      const { describedObject: object } = metric;
      if (!object || !isOurs(object))
        throw new Error(
          'Collector skipper supports only Ingresses, with --skipper-ingress-metrics, and RouteGroups, with --skipper-routegroup-metrics',
        );
      if (!isMetric(metric.name))
        throw new Error(
          `Collector skipper supports only the metric "${METRIC}", not ${JSON.stringify(metric.name)}`,
        );
      const { backend = backendIn(metric) } = readSettings(settings, request).values;
      const target = { ...object, namespace: hpa.namespace };
      return queryOf(target, backend, options);
    },
  };
}

type Target = DescribedObject & { readonly namespace: string };

function queryOf(target: Target, backend: string | undefined, options: SkipperCollectorOptions): Query {
  const { apiVersion = '', kind, namespace, name } = target;
  const { server } = options;
  const shown = `${kind} ${namespace}/${name}`;
  const { key, source = '' } = server.query('');
  return {
    source,
    key: JSON.stringify(['skipper', apiVersion, kind, namespace, name, backend, key]),
    description: `requests of ${shown}${backend === undefined ? '' : `, backend ${backend}`}`,
    async run(signal) {
      const { hosts, weights } = await read(target, options, signal);
      if (hosts.length === 0) throw new Error(`${shown} has no hosts`);
      const weight = weightOf(weights, backend);
      if (weight === undefined)
        throw new Error(
          `The setting "backend" is missing: ${shown} distributes its requests among several backends, so name one of them`,
        );
      return await server.query(hostQuery(SERIES, { hosts, weight })).run(signal);
    },
  };
}

async function read(
  target: Target,
  { client, mapper, backendsAnnotations }: SkipperCollectorOptions,
  signal: AbortSignal,
): Promise<RoutedObject> {
  const { apiVersion = 'v1', kind, namespace, name } = target;
  try {
    const resource = await mapper.find({ apiVersion, kind }, signal);
    if (!resource) throw new Error(`the API server does not serve ${kind} of ${apiVersion}`);
    const object = await client.getJson(objectPath(resource, target), { signal });
    return isIngress(target) ? readIngress(object, backendsAnnotations) : readRouteGroup(object);
  } catch (cause) {
    signal.throwIfAborted();
    throw new Error(`Cannot find hosts of ${kind} ${namespace}/${name}`, { cause });
  }
}

/** A fraction; the largest of several annotations; `undefined` where it depends on a backend and none is set. */
function weightOf(weights: RoutedObject['weights'], backend: string | undefined): number | undefined {
  if (weights.length === 0) return 1;
  if (backend === undefined) return undefined;
  return Math.max(...weights.map((map) => getOwn(map, backend) ?? 0)) / 100;
}

function isMetric(name: string): boolean {
  return name === METRIC || name.startsWith(`${METRIC},`);
}

function backendIn({ name }: HpaMetric): string | undefined {
  return name.slice(METRIC.length + 1) || undefined;
}

function isIngress(object: DescribedObject | undefined): boolean {
  return object?.kind === 'Ingress' && INGRESS_GROUPS.includes(groupOf(object));
}

function isRouteGroup(object: DescribedObject | undefined): boolean {
  return object?.kind === 'RouteGroup' && groupOf(object) === 'zalando.org';
}

function groupOf({ apiVersion = '' }: DescribedObject): string {
  return apiVersion.split('/')[0] ?? '';
}

/** Hosts of an object, and weights of its backends. */
interface RoutedObject {
  readonly hosts: readonly string[];
  /** Per cent by backend, one map for each annotation; empty where there are no weights. */
  readonly weights: readonly Readonly<Record<string, number>>[];
}

const PERCENT = z.number().min(0).max(100);
const WEIGHTS = z.record(z.string(), PERCENT);
/** Of a RouteGroup: relative to the sum of all weights. */
const WEIGHT = z.number().min(0).default(0);
const HOSTS = z.array(z.string()).nullable().default([]);

const INGRESS = z.object({
  metadata: z.object({ annotations: z.record(z.string(), z.string()).nullable().default({}) }),
  spec: z.object({
    rules: z
      .array(z.object({ host: z.string().optional() }))
      .nullable()
      .default([]),
  }),
});
const ROUTE_GROUP = z.object({
  spec: z.object({
    hosts: HOSTS,
    defaultBackends: z
      .array(z.object({ backendName: z.string(), weight: WEIGHT }))
      .nullable()
      .default([]),
  }),
});

/**
 * Reads an Ingress.
 *
 * @throws an Error with the invalid field or annotation
 */
export function readIngress(value: unknown, backendsAnnotations: readonly string[]): RoutedObject {
  const { metadata, spec } = readAs(INGRESS, 'an Ingress', value);
  const annotations = metadata.annotations ?? {};
  const weights = backendsAnnotations.flatMap((name) => {
    const text = getOwn(annotations, name);
    return text === undefined ? [] : [weightsIn(name, text)];
  });
  const hosts = (spec.rules ?? []).flatMap(({ host }) => host || []);
  return { hosts: [...new Set(hosts)], weights };
}

/**
 * Reads a RouteGroup.
 *
 * @throws an Error with the invalid field, or when it has too many values
 */
export function readRouteGroup(value: unknown): RoutedObject {
  measureObject(propertyOf(value, 'spec')); // its definition may accept any type, and a schema lists each wrong field
  const { hosts, defaultBackends } = readAs(ROUTE_GROUP, 'a RouteGroup', value).spec;
  const backends = defaultBackends ?? [];
  return { hosts: [...new Set(hosts ?? [])], weights: backends.length > 1 ? [shares(backends)] : [] };
}

/** As Skipper does, relative to the sum of all weights, and evenly where none is above 0. */
function shares(
  backends: readonly { readonly backendName: string; readonly weight: number }[],
): Readonly<Record<string, number>> {
  const sum = backends.reduce((total, { weight }) => total + weight, 0);
  const percentOf = (weight: number) => (sum > 0 ? weight / sum : 1 / backends.length) * 100;
  return Object.fromEntries(backends.map(({ backendName, weight }) => [backendName, percentOf(weight)]));
}

const MAX_LENGTH = 64 * 1024;

function weightsIn(name: string, text: string): Readonly<Record<string, number>> {
  try {
    if (text.length <= MAX_LENGTH) return WEIGHTS.parse(JSON.parse(text));
  } catch {
    // as for one that is too long
  }
  throw new Error(`annotation ${name} must be a JSON object of backends and percentages`);
}
