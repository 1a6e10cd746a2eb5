import { digest } from '../query.ts';
import type { RespValue } from './redis-client.ts';
import type { RedisCommand, RedisServerOptions, RedisServers } from './redis-servers.ts';

/** One of the addresses of servers that belong together. */
interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

type Access = Omit<RedisServerOptions, keyof RedisAddress>;

/** Where keys are: on one server, on that which sentinels name, or on one of a cluster. */
export type RedisDeployment =
  | { readonly kind: 'server'; readonly addresses: readonly RedisAddress[]; readonly access: Access }
  | { readonly kind: 'cluster'; readonly addresses: readonly RedisAddress[]; readonly access: Access }
  | {
      readonly kind: 'sentinel';
      readonly addresses: readonly RedisAddress[];
      readonly access: Access;
      readonly sentinelAccess: Access;
      readonly master: string;
    };

/** Tells places, and who asks there, apart; holds no secret. */
export function deploymentKey(place: RedisDeployment): string {
  const { kind, addresses } = place;
  return JSON.stringify([kind, addresses, digest(place)]);
}

/** Asks by some commands about one key, wherever it is. @throws what the last of the servers that were tried fails by */
export async function queryDeployment<R>(
  servers: RedisServers,
  { place, work }: { readonly place: RedisDeployment; readonly work: (send: RedisCommand) => Promise<R> },
  signal: AbortSignal,
): Promise<R> {
  const { addresses, access } = place;
  if (place.kind === 'server')
    return await tryAddresses(addresses.slice(0, 1), signal, (at) =>
      servers.use({ ...at, ...access }, work, signal),
    );
  if (place.kind === 'cluster')
    return await tryAddresses(addresses, signal, (at) =>
      work(followRedirections(servers, { at, access, signal })),
    );
  const master = await tryAddresses(addresses, signal, (at) => findMaster(servers, { at, place, signal }));
  return await servers.use({ ...master, ...access }, work, signal);
}

/** @throws the error of the last address where none gives a result */
async function tryAddresses<R>(
  addresses: readonly RedisAddress[],
  signal: AbortSignal,
  ask: (at: RedisAddress) => Promise<R>,
): Promise<R> {
  let last: unknown = new Error('there is no address');
  for (const at of addresses) {
    try {
      return await ask(at);
    } catch (error) {
      signal.throwIfAborted();
      last = error;
      if (!isUnreachable(error)) break; // another one would say the same
    }
  }
  throw last;
}

class UnknownMasterError extends Error {}

function isUnreachable(error: unknown): boolean {
  return (
    error instanceof UnknownMasterError ||
    (error instanceof Error && error.message.startsWith('connection to redis failed'))
  );
}

async function findMaster(
  servers: RedisServers,
  {
    at,
    place,
    signal,
  }: { at: RedisAddress; place: Extract<RedisDeployment, { kind: 'sentinel' }>; signal: AbortSignal },
): Promise<RedisAddress> {
  const { master, sentinelAccess } = place;
  const ask = (send: RedisCommand) => send('SENTINEL', 'get-master-addr-by-name', master);
  const told = await servers.use({ ...at, ...sentinelAccess }, ask, signal);
  const address = Array.isArray(told) ? parseAddress(`${told[0]}:${told[1]}`, at) : undefined;
  if (!address)
    throw new UnknownMasterError(
      `the sentinel at ${at.host}:${at.port} knows no master ${JSON.stringify(master)}`,
    );
  return address;
}

const MAX_REDIRECTIONS = 5;
const REDIRECTION = /^(MOVED|ASK) \d{1,5} (\S{1,300})$/;

/** Sends commands to one server of a cluster, and from then on to where that says that the key is. */
function followRedirections(
  servers: RedisServers,
  {
    at,
    access,
    signal,
  }: { readonly at: RedisAddress; readonly access: Access; readonly signal: AbortSignal },
): RedisCommand {
  let current = at;
  return async (...words) => {
    let isAsked = false;
    for (let left = MAX_REDIRECTIONS; ; left--) {
      const work = async (send: RedisCommand): Promise<RespValue> => {
        if (!isAsked) return await send(...words);
        const [, value = null] = await Promise.all([send('ASKING'), send(...words)]);
        return value;
      };
      try {
        return await servers.use({ ...current, ...access }, work, signal);
      } catch (error) {
        signal.throwIfAborted();
        const [, kind, text = ''] = REDIRECTION.exec(error instanceof Error ? error.message : '') ?? [];
        const next = parseAddress(text, current);
        if (!next || left === 0) throw error;
        isAsked = kind === 'ASK';
        current = next;
      }
    }
  };
}

/** Of `HOST:PORT`; without a host, that of who said it. */
function parseAddress(text: string, from: RedisAddress): RedisAddress | undefined {
  const colon = text.lastIndexOf(':');
  const port = Number(text.slice(colon + 1));
  if (colon === -1 || !Number.isInteger(port) || port < 1 || port > 65_535) return undefined;
  return { host: text.slice(0, colon) || from.host, port };
}
