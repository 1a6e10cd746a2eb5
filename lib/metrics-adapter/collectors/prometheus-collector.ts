import type { HttpClient } from '#lib/sources/http/http-client.ts';
import type { CredentialSource } from '#lib/sources/http/http-credentials.ts';
import { parseSourceUrl } from '#lib/sources/http/source-url.ts';
import { PrometheusServer } from '#lib/sources/prometheus/prometheus-server.ts';
import { nameOfMetric } from '../objects/scaled-hpa.ts';
import {
  type CollectorRequest,
  type MetricCollector,
  type SettingOrLabel,
  settingsOf,
} from './metric-collector.ts';

/** What the Prometheus collector works with. */
export interface PrometheusCollectorOptions {
  /** The server that is asked where nothing else is said; `undefined` where there is none. */
  readonly server: PrometheusServer | undefined;
  /** Others, by the names that `prometheus-server-alias` calls them. */
  readonly additionalServers: ReadonlyMap<string, PrometheusServer>;
  /** A client for servers that annotations name, with no other credentials than their URLs hold. */
  readonly clientFor: (credentials: CredentialSource | undefined) => HttpClient;
}

/** Instant queries of Prometheus: one number for an External metric, or for an object. */
export function prometheusCollector(options: PrometheusCollectorOptions): MetricCollector {
  return {
    name: 'prometheus',
    legacyMetrics: ['prometheus-query'],
    types: ['External', 'Object'],
    queryOf(request) {
      const settings = settingsOf(request);
      return serverOf(settings, options).query(queryIn(settings, request));
    },
  };
}

/** The query itself, or the setting that `query-name` names, as was usual once. */
function queryIn(settings: ReadonlyMap<string, SettingOrLabel>, { metric }: CollectorRequest): string {
  const name = settings.get('query-name');
  const query = settings.get('query') ?? (name && settings.get(name.value));
  const subject = `metric ${nameOfMetric(metric)}`;
  if (query && query.value.trim() !== '') return query.value;
  if (query) throw new Error(`${query.place} must be a query, not empty`);
  if (!name) throw new Error(`Query or query-name is missing of ${subject}`);
  throw new Error(`${name.place} names no query: ${subject} has no setting ${JSON.stringify(name.value)}`);
}

function serverOf(
  settings: ReadonlyMap<string, SettingOrLabel>,
  { server, additionalServers, clientFor }: PrometheusCollectorOptions,
): PrometheusServer {
  const [own, alias] = [settings.get('prometheus-server'), settings.get('prometheus-server-alias')];
  if (own && alias) throw new Error(`${alias.place} and ${own.place} exclude each other`);
  if (own) {
    const read = parseSourceUrl(own.value);
    if (typeof read === 'string') throw new Error(`${own.place} ${read}`);
    return new PrometheusServer({ url: read.url, http: clientFor(read.credentials) });
  }
  if (alias) {
    const named = additionalServers.get(alias.value);
    if (named) return named;
    throw new Error(
      `${alias.place}: there is no additional Prometheus server ${JSON.stringify(alias.value)}`,
    );
  }
  if (server) return server;
  throw new Error(
    'There is no Prometheus server to ask: neither --prometheus-server nor prometheus-server is given',
  );
}
