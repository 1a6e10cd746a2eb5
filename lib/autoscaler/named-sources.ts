import { AllowedHosts } from '#lib/sources/http/allowed-hosts.ts';
import { HttpClient } from '#lib/sources/http/http-client.ts';
import { type CredentialSource, openCredentials } from '#lib/sources/http/http-credentials.ts';
import { parseSourceUrl } from '#lib/sources/http/source-url.ts';
import { PrometheusServer } from '#lib/sources/prometheus/prometheus-server.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { MetricsAdapterPartOptions, PrometheusOptions } from './options/metrics-adapter-options.ts';

/** The sources that the administrator names by flags. */
export interface NamedSources {
  readonly server: PrometheusServer | undefined;
  readonly additionalServers: ReadonlyMap<string, PrometheusServer>;
}

/** What making them needs. */
export interface NamedSourcesEnvironment {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly userAgent: string;
  /** Takes what is to be disposed of. */
  readonly stack: AsyncDisposableStack;
}

/** They may be anywhere, on this machine, too. */
const EVERYWHERE = ['*', '0.0.0.0/0', '::/0'];

/** @throws when a file of credentials cannot be used, or credentials are given twice */
export async function namedSources(
  options: Pick<MetricsAdapterPartOptions, 'prometheus' | 'additionalPrometheus'>,
  environment: NamedSourcesEnvironment,
): Promise<NamedSources> {
  const server =
    options.prometheus && (await prometheusAt('--prometheus-server', options.prometheus, environment));
  const additionalServers = new Map<string, PrometheusServer>();
  for (const [name, additional] of options.additionalPrometheus) {
    const flag = `--additional-prometheus-server ${name}`;
    additionalServers.set(name, await prometheusAt(flag, additional, environment));
  }
  return { server, additionalServers };
}

async function prometheusAt(
  flag: string,
  { url: text, tokenFile }: PrometheusOptions,
  environment: NamedSourcesEnvironment,
): Promise<PrometheusServer> {
  const { stack } = environment;
  const read = parseSourceUrl(text);
  if (typeof read === 'string') throw new Error(`${flag} ${read}`);
  if (tokenFile && read.credentials)
    throw new Error(`${flag} must have its credentials in its URL or in a token file, not in both`);
  const token = tokenFile && stack.use(await openCredentials({ tokenFile }, environment));
  return new PrometheusServer({ http: clientOf(environment, token || read.credentials), url: read.url });
}

function clientOf(
  { clock, userAgent, stack }: NamedSourcesEnvironment,
  credentials: CredentialSource | undefined,
): HttpClient {
  const allowedHosts = new AllowedHosts(EVERYWHERE);
  return stack.use(new HttpClient({ clock, userAgent, allowedHosts, ...(credentials && { credentials }) }));
}
