import type { Subsystem } from '#lib/apiserver/subsystem.ts';
import { prometheusCollector } from '#lib/metrics-adapter/collectors/prometheus-collector.ts';
import { sqlCollector } from '#lib/metrics-adapter/collectors/sql-collector.ts';
import { type MetricsAdapterEnvironment, metricsAdapter } from '#lib/metrics-adapter/metrics-adapter.ts';
import { AllowedHosts } from '#lib/sources/http/allowed-hosts.ts';
import { HttpClient } from '#lib/sources/http/http-client.ts';
import { type CredentialSource, openCredentials } from '#lib/sources/http/http-credentials.ts';
import { parseSourceUrl } from '#lib/sources/http/source-url.ts';
import { PrometheusServer } from '#lib/sources/prometheus/prometheus-server.ts';
import { openSqlSource, type SqlSource } from '#lib/sources/sql/sql-source.ts';
import { listenForMetrics } from './metrics-listener.ts';
import type { MetricsAdapterPartOptions, PrometheusOptions } from './options/metrics-adapter-options.ts';

/** What the part needs from outside. */
export interface MetricsAdapterPartEnvironment extends Omit<MetricsAdapterEnvironment, 'collectors'> {
  readonly userAgent: string;
}

/**
 * The metrics adapter with the sources that flags name.
 *
 * @throws when a token file cannot be used, or an address not be listened at
 */
export async function metricsAdapterPart(
  options: MetricsAdapterPartOptions,
  environment: MetricsAdapterPartEnvironment,
): Promise<Subsystem> {
  const { clock, userAgent } = environment;
  await using stack = new AsyncDisposableStack();
  const clientOf = (allowed: readonly string[], credentials?: CredentialSource) =>
    new HttpClient({
      ...{ clock, userAgent, allowedHosts: new AllowedHosts(allowed) },
      ...(credentials && { credentials }),
    });
  const open = clientOf(options.allowedHosts);
  const withCredentials = new Map<string, HttpClient>(); // by their names; few users write them into URLs
  stack.defer(async () => {
    await Promise.all([open, ...withCredentials.values()].map((client) => client[Symbol.asyncDispose]()));
  });
  const clientFor = (credentials: CredentialSource | undefined) => {
    if (!credentials) return open;
    const known = withCredentials.get(credentials.name) ?? clientOf(options.allowedHosts, credentials);
    withCredentials.set(credentials.name, known);
    return known;
  };
  // What the administrator names may be anywhere, on this machine, too.
  const serverAt = async ({ url: text, tokenFile }: PrometheusOptions) => {
    const read = parseSourceUrl(text);
    if (typeof read === 'string') throw new Error(`The URL of a Prometheus server ${read}`);
    const token = tokenFile && stack.use(await openCredentials({ tokenFile }, environment));
    const http = stack.use(clientOf(EVERYWHERE, token || read.credentials));
    return new PrometheusServer({ http, url: read.url });
  };
  const server = options.prometheus && (await serverAt(options.prometheus));
  const additionalServers = new Map<string, PrometheusServer>();
  for (const [name, additional] of options.additionalPrometheus)
    additionalServers.set(name, await serverAt(additional));
  const sqlSources = new Map<string, SqlSource>();
  for (const [name, path] of options.sqlSources)
    sqlSources.set(name, stack.use(await openSqlSource({ name, path }, environment)));
  const collectors = [
    prometheusCollector({ server, additionalServers, clientFor }),
    sqlCollector({ sources: sqlSources }),
  ];
  if (options.metricsAddress) stack.use(await listenForMetrics(options.metricsAddress, environment.registry));
  const adapter = stack.use(metricsAdapter(options, { ...environment, collectors }));
  const owned = stack.move();
  return { ...adapter, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const EVERYWHERE = ['*', '0.0.0.0/0', '::/0'];
