import { z } from 'zod';
import type { HttpClients } from '#lib/sources/http/http-clients.ts';
import { PrometheusServer } from '#lib/sources/http-apis/prometheus-server.ts';
import { CONFIG_PREFIX, LIST_KEY, nameOfMetric } from '../collected-metrics.ts';
import {
  type CollectorRequest,
  type MetricCollector,
  type ReadSettings,
  readSettings,
  sourceUrl,
  text,
} from './metric-collector.ts';

/** Neither the flags nor the HPA configure a Prometheus server. */
export class NoPrometheusServer extends Error {}

interface PrometheusCollectorOptions {
  /** The server of the flags; `undefined` without one. */
  readonly server: PrometheusServer | undefined;
  /** Further servers by name, for `prometheus-server-alias`. */
  readonly additionalServers: ReadonlyMap<string, PrometheusServer>;
  /** Clients for servers in annotations, with the credentials of their URLs alone. */
  readonly clients: HttpClients;
}

const settings = z.object({
  query: text.optional().describe('Query in PromQL. The value is the first sample of the result.'),
  'query-name': text
    .optional()
    .describe('Name of another setting, which contains the query; used instead of `query`.'),
  'prometheus-server': sourceUrl
    .optional()
    .describe('URL of another Prometheus server; may contain a user name and password.'),
  'prometheus-server-alias': text
    .optional()
    .describe('Name of another Prometheus server, which `--additional-prometheus-server` defines.'),
});

type Settings = ReadSettings<typeof settings>;

const SHOWN_LENGTH = 50;

/** Instant queries of Prometheus: one number for an External or Object metric. */
export function prometheusCollector(options: PrometheusCollectorOptions): MetricCollector {
  return {
    name: 'prometheus',
    legacyMetrics: ['prometheus-query'],
    types: ['External', 'Object'],
    settings,
    takesAlso: (name, all) => name === all.get('query-name')?.value,
    queryOf(request) {
      const read = readSettings(settings, request);
      return serverOf(read, request, options).query(queryIn(read, request));
    },
  };
}

/** The query itself, or the setting that `query-name` refers to, as in earlier versions. */
function queryIn({ values, place, all }: Settings, { metric, config }: CollectorRequest): string {
  const { query, 'query-name': name } = values;
  if (query !== undefined) return query;
  const subject = `metric ${nameOfMetric(metric)}`;
  if (name === undefined) {
    const unknown = [...(config?.settings ?? [])].find(([one]) => !Object.hasOwn(settings.shape, one));
    const instead = unknown ? `; ${unknown[1].place} is not a setting of collector prometheus` : '';
    throw new Error(
      `Metric ${nameOfMetric(metric)} has neither the setting "query" nor "query-name"${instead}`,
    );
  }
  const named = all.get(name)?.value ?? '';
  if (named.trim() !== '') return named;
  throw new Error(`${place('query-name')} is invalid: ${subject} has no setting ${JSON.stringify(name)}`);
}

function serverOf(
  { values, place }: Settings,
  { metric: { type, name }, config }: CollectorRequest,
  { server, additionalServers, clients }: PrometheusCollectorOptions,
): PrometheusServer {
  const { 'prometheus-server': own, 'prometheus-server-alias': alias } = values;
  if (own && alias !== undefined)
    throw new Error(
      `${place('prometheus-server-alias')} and ${place('prometheus-server')} are mutually exclusive`,
    );
  if (own)
    return new PrometheusServer({ url: own.url, http: clients.find({ credentials: own.credentials }) });
  if (alias !== undefined) {
    const named = additionalServers.get(alias);
    if (named) return named;
    const configured = [...additionalServers.keys()].join(', ') || 'none';
    const unknown = JSON.stringify(alias.slice(0, SHOWN_LENGTH));
    throw new Error(
      `${place('prometheus-server-alias')} must be one of --additional-prometheus-server (${configured}), not ${unknown}`,
    );
  }
  if (server) return server;
  const settings = [...(config?.settings.values() ?? [])];
  const setting = settings.some(({ place }) => place.startsWith(`Annotation ${LIST_KEY},`))
    ? `prometheus-server of its entry in ${LIST_KEY}`
    : `the annotation ${CONFIG_PREFIX}${type.toLowerCase()}.${name}.prometheus/prometheus-server`;
  throw new NoPrometheusServer(
    `No Prometheus server to query: neither the flag --prometheus-server nor ${setting} is set`,
  );
}
