import { isIP } from 'node:net';
import { z } from 'zod';
import { extractResult } from '../http/http-client.ts';
import type { HttpRequester } from '../http/observed-requester.ts';
import { readJsonAs } from '../json/read-json.ts';
import { digest, type Query, shorten } from '../query.ts';
import type { Sample } from '../sample.ts';

/** A consumer of a stream, and the monitoring endpoint of its server. */
export interface JetstreamConsumer {
  readonly http: HttpRequester;
  /** Scheme, host and port of the monitoring endpoint. */
  readonly endpoint: URL;
  /** Name or ID. */
  readonly account: string;
  readonly stream: string;
  readonly consumer: string;
  /** Of one request; a query of a cluster takes several. */
  readonly timeoutMs: number;
}

const CLUSTER = z.object({ leader: z.string().optional() }).optional();
const COUNT = z.number().nonnegative();
const CONSUMER = z.object({
  name: z.string(),
  num_pending: COUNT,
  num_ack_pending: COUNT,
  cluster: CLUSTER,
});
const STREAM = z.object({ name: z.string(), consumer_detail: z.array(CONSUMER).optional() });
const ACCOUNT = z.object({
  name: z.string().optional(),
  id: z.string().optional(),
  stream_detail: z.array(STREAM).optional(),
});
const JETSTREAM = z.object({
  meta_cluster: z.object({ cluster_size: z.number().optional() }).optional(),
  account_details: z.array(ACCOUNT).optional(),
});
const SERVER = z.object({
  server_name: z.string().optional(),
  connect_urls: z.array(z.string()).optional(),
  cluster: z.object({ urls: z.array(z.string()).optional() }).optional(),
});

/** Servers of a cluster that are queried to find the leader. */
const MAX_SERVERS = 32;
const SYSTEM = 'a NATS monitoring endpoint';

/** Creates a query for the messages that are not yet delivered to a consumer, or not acknowledged by it. */
export function jetstreamLag(options: JetstreamConsumer): Query {
  const { http, endpoint, account, stream, consumer, timeoutMs } = options;
  let leader: URL | undefined; // the server with current numbers, as last found
  return {
    key: JSON.stringify([
      'nats-jetstream',
      endpoint.href,
      http.credentialName,
      digest([account, stream, consumer]),
    ]),
    description: `lag of consumer ${shorten(consumer)} of stream ${shorten(stream)} at ${endpoint.host}`,
    source: endpoint.host,
    async run(signal) {
      const current = leader && (await readFromLeader(leader, options, signal).catch(() => undefined));
      signal.throwIfAborted();
      if (current !== undefined) return toSamples(current);
      leader = undefined;
      const body = await read(http, { url: buildJetstreamUrl(endpoint, account), timeoutMs }, signal);
      const found = readJetstream(body, options);
      if (!found.isClustered) return toSamples(found.consumer());
      for (const server of await findServers(options, signal)) {
        const one = await readFromLeader(server, options, signal).catch(() => undefined);
        signal.throwIfAborted();
        if (one === undefined) continue;
        leader = server;
        return toSamples(one);
      }
      found.consumer(); // throws if it does not exist
      throw new Error(`leader node not found for consumer ${shorten(consumer)}`);
    },
  };
}

type Consumer = z.infer<typeof CONSUMER>;

/**
 * Parses the streams of a server.
 *
 * @throws an Error if the response is invalid; `consumer` throws if the stream or consumer does not exist
 */
export function readJetstream(
  body: Buffer,
  { account, stream, consumer }: Pick<JetstreamConsumer, 'account' | 'stream' | 'consumer'>,
): { readonly isClustered: boolean; readonly consumer: () => Consumer } {
  const { meta_cluster, account_details = [] } = readJsonAs(JETSTREAM, body, SYSTEM);
  const found = account_details.find(({ name, id }) => name === account || id === account);
  return {
    isClustered: (meta_cluster?.cluster_size ?? 0) > 1,
    consumer() {
      const inStream = found?.stream_detail?.find(({ name }) => name === stream);
      if (!inStream) throw new Error('stream not found');
      const one = inStream.consumer_detail?.find(({ name }) => name === consumer);
      if (!one)
        throw new Error(`consumer ${JSON.stringify(consumer)} not found in stream ${JSON.stringify(stream)}`);
      return one;
    },
  };
}

/** Reads a consumer from its leader. @throws if the server is not the leader */
async function readFromLeader(
  server: URL,
  options: JetstreamConsumer,
  signal: AbortSignal,
): Promise<Consumer> {
  const { http, account, timeoutMs } = options;
  const found = readJetstream(
    await read(http, { url: buildJetstreamUrl(server, account), timeoutMs }, signal),
    options,
  ).consumer();
  const { server_name } = readServer(await read(http, { url: new URL('/varz', server), timeoutMs }, signal));
  if (server_name === undefined || found.cluster?.leader !== server_name)
    throw new Error(`${server.host} is not the leader of the consumer`);
  return found;
}

/** Returns the monitoring endpoints of all servers of a cluster, the configured one first. */
async function findServers(
  { endpoint, http, timeoutMs }: JetstreamConsumer,
  signal: AbortSignal,
): Promise<readonly URL[]> {
  const body = await read(http, { url: new URL('/varz', endpoint), timeoutMs }, signal);
  const { connect_urls = [], cluster } = readServer(body);
  const hosts =
    connect_urls.length > 0
      ? connect_urls.map(parseHost)
      : (cluster?.urls ?? [])
          .map(parseHost)
          .map((host) => (isIP(host) === 0 ? `${host}.${endpoint.hostname}` : host));
  const servers = new Map([[endpoint.href, endpoint]]);
  for (const host of hosts.slice(0, MAX_SERVERS)) {
    const text = `${endpoint.protocol}//${isIP(host) === 6 ? `[${host}]` : host}:${endpoint.port}`;
    if (!URL.canParse(text) || new URL(text).username !== '') continue;
    const url = new URL(text);
    servers.set(url.href, url);
  }
  return [...servers.values()];
}

/** @throws an Error if the response is invalid */
export function readServer(body: Buffer): z.infer<typeof SERVER> {
  return readJsonAs(SERVER, body, SYSTEM);
}

/** Parses the host of `HOST:PORT`, optionally after a scheme. */
function parseHost(address: string): string {
  const bare = address.slice(0, 300).split('://').at(-1) ?? '';
  const colon = bare.lastIndexOf(':');
  const host = colon > bare.lastIndexOf(']') ? bare.slice(0, colon) : bare;
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

function buildJetstreamUrl(server: URL, account: string): URL {
  const url = new URL('/jsz', server);
  for (const [key, value] of Object.entries({ acc: account, config: 'true', consumers: 'true' }))
    url.searchParams.set(key, value);
  return url;
}

async function read(
  http: HttpRequester,
  { url, timeoutMs }: { readonly url: URL; readonly timeoutMs: number },
  signal: AbortSignal,
): Promise<Buffer> {
  return extractResult(await http.exchange({ url, timeoutMs }, signal), { url, parse: (body) => body });
}

function toSamples({ num_pending, num_ack_pending }: Consumer): readonly Sample[] {
  return [{ value: num_pending + num_ack_pending, labels: {} }];
}
