import { join } from 'node:path';
import type { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { HttpClient } from '#lib/sources/http/http-client.ts';
import { HttpClients } from '#lib/sources/http/http-clients.ts';
import {
  type CredentialSource,
  fixedCredentials,
  joinCredentials,
  openCredentials,
  openTlsFolder,
} from '#lib/sources/http/http-credentials.ts';
import { parseSourceUrl } from '#lib/sources/http/source-url.ts';
import { InfluxdbServer } from '#lib/sources/http-apis/influxdb-server.ts';
import { NakadiServer } from '#lib/sources/http-apis/nakadi-server.ts';
import { PrometheusServer } from '#lib/sources/http-apis/prometheus-server.ts';
import { SqsRegion } from '#lib/sources/http-apis/sqs-queue.ts';
import { ZmonServer } from '#lib/sources/http-apis/zmon-server.ts';
import { AllowedHosts, type FindAddresses } from '#lib/sources/network/allowed-hosts.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { InfluxdbAccount } from './collectors/influxdb-collector.ts';
import type {
  MetricsAdapterPartOptions,
  PrometheusOptions,
  TokenEndpoint,
} from './metrics-adapter-options.ts';

/** Sources that flags configure. */
export interface NamedSources {
  readonly influxdb: ((own: InfluxdbAccount) => InfluxdbServer) | undefined;
  readonly zmon: ZmonServer | undefined;
  readonly nakadi: NakadiServer | undefined;
  readonly sqsRegions: ReadonlyMap<string, SqsRegion>;
  readonly server: PrometheusServer | undefined;
  readonly additionalServers: ReadonlyMap<string, PrometheusServer>;
}

interface NamedSourcesEnvironment {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly userAgent: string;
  /** `undefined` where only addresses are dialed, and no names. */
  readonly findAddresses: FindAddresses | undefined;
  /** Shared by the reads of long responses; by default each source has its own. */
  readonly share?: EventLoopShare;
  /** Owns what must be disposed. */
  readonly stack: AsyncDisposableStack;
}

/** The same for one source. */
interface SourceEnvironment extends NamedSourcesEnvironment {
  /** Authorities and client certificate; `undefined` to trust the system's authorities. */
  readonly tls?: CredentialSource | undefined;
}

/** Flags of sources. */
type NamedSourcesOptions = Pick<
  MetricsAdapterPartOptions,
  'prometheus' | 'additionalPrometheus' | 'influxdb' | 'zmon' | 'nakadi' | 'awsRegions' | 'sourceTls'
>;

/** They may be anywhere, even on this machine. */
const EVERYWHERE = ['*', '0.0.0.0/0', '::/0'];

/** @throws when a file of credentials cannot be used, or credentials are set twice */
export async function namedSources(
  options: NamedSourcesOptions,
  environment: NamedSourcesEnvironment,
): Promise<NamedSources> {
  const tls = new Map<string, CredentialSource>();
  for (const [name, folder] of options.sourceTls)
    tls.set(name, environment.stack.use(await openSourceTls(name, folder, environment)));
  const withTls = (name: string) => ({ ...environment, tls: tls.get(name) });
  const server =
    options.prometheus &&
    (await prometheusAt('--prometheus-server', options.prometheus, withTls('prometheus')));
  const additionalServers = new Map<string, PrometheusServer>();
  for (const [name, additional] of options.additionalPrometheus) {
    const flag = `--additional-prometheus-server ${name}`;
    additionalServers.set(name, await prometheusAt(flag, additional, withTls(`prometheus/${name}`)));
  }
  const { influxdb, zmon, nakadi, awsRegions = [] } = options;
  return {
    ...{ server, additionalServers },
    influxdb: influxdb && influxdbAt(influxdb, withTls('influxdb')),
    zmon: zmon && new ZmonServer(await endpointOf('--zmon-kariosdb-endpoint', zmon, withTls('zmon'))),
    nakadi: nakadi && new NakadiServer(await endpointOf('--nakadi-endpoint', nakadi, withTls('nakadi'))),
    sqsRegions: new Map(
      awsRegions.map((region) => {
        const http = clientOf(environment, undefined);
        return [region, environment.stack.use(new SqsRegion({ http, region }))];
      }),
    ),
  };
}

async function openSourceTls(
  name: string,
  folder: string,
  environment: NamedSourcesEnvironment,
): ReturnType<typeof openTlsFolder> {
  return await openTlsFolder(folder, environment).catch((cause: unknown) => {
    throw new Error(`Cannot use --source-tls of ${JSON.stringify(name)}`, { cause });
  });
}

function influxdbAt(
  { address, token, organization }: NonNullable<NamedSourcesOptions['influxdb']>,
  environment: SourceEnvironment,
): NamedSources['influxdb'] {
  const read = parseSourceUrl(address);
  if (typeof read === 'string') throw new Error(`--influxdb-address ${read}`);
  const { url } = read;
  if (token !== '' && read.credentials)
    throw new Error('--influxdb-address must not have a user and password together with --influxdb-token');
  const credentials = token === '' ? read.credentials : fixedCredentials({ authorization: `Token ${token}` });
  const { clock, userAgent, share, tls, stack, findAddresses } = environment;
  const http = clientOf(environment, credentials);
  const clients = stack.use(
    new HttpClients({ clock, userAgent, share, findAddresses, allowedHosts: new AllowedHosts(EVERYWHERE) }),
  );
  const clientFor = (own: string) =>
    clients.find({
      credentials: joinCredentials(fixedCredentials({ authorization: `Token ${own}` }), tls),
    });
  return ({ organization: org = organization, token: own }) =>
    new InfluxdbServer({ http: own === undefined ? http : clientFor(own), url, org });
}

/** A server that accepts an OAuth2 token from a flag or a rotating file. */
async function endpointOf(
  flag: string,
  { url: text, token, credentialsFolder, tokenName }: TokenEndpoint,
  environment: SourceEnvironment,
): Promise<{ readonly http: HttpClient; readonly url: URL }> {
  const read = parseSourceUrl(text);
  if (typeof read === 'string') throw new Error(`${flag} ${read}`);
  const tokenFile = join(credentialsFolder, `${tokenName}-token-secret`);
  const credentials =
    token === ''
      ? environment.stack.use(await openCredentials({ tokenFile }, environment))
      : fixedCredentials({ authorization: `Bearer ${token}` });
  return { http: clientOf(environment, credentials), url: read.url };
}

async function prometheusAt(
  flag: string,
  { url: text, tokenFile }: PrometheusOptions,
  environment: SourceEnvironment,
): Promise<PrometheusServer> {
  const { stack } = environment;
  const read = parseSourceUrl(text);
  if (typeof read === 'string') throw new Error(`${flag} ${read}`);
  if (tokenFile && read.credentials)
    throw new Error(`${flag} must have credentials in its URL or in a token file, not both`);
  const token = tokenFile && stack.use(await openCredentials({ tokenFile }, environment));
  return new PrometheusServer({ http: clientOf(environment, token || read.credentials), url: read.url });
}

function clientOf(
  { clock, userAgent, stack, tls, share, findAddresses }: SourceEnvironment,
  given: CredentialSource | undefined,
): HttpClient {
  const allowedHosts = new AllowedHosts(EVERYWHERE);
  const credentials = joinCredentials(given, tls);
  const http = { clock, userAgent, allowedHosts, share, findAddresses };
  return stack.use(new HttpClient({ ...http, ...(credentials && { credentials }) }));
}
