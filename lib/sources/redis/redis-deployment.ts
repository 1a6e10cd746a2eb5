import { digest } from '../query.ts';
import type { RespValue } from './redis-client.ts';
import type { RedisCommand, RedisServerOptions, RedisServers } from './redis-servers.ts';

interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

type Access = Omit<RedisServerOptions, keyof RedisAddress>;

/** A single server, a cluster, or a master that sentinels report. */
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

/** Identifies a deployment and its credentials; contains no secret. */
export function deploymentKey(deployment: RedisDeployment): string {
  const { kind, addresses } = deployment;
  return JSON.stringify([kind, addresses, digest(deployment)]);
}

/** Runs commands about one key on the server that has it. @throws the error of the last server that was tried */
export async function queryDeployment<R>(
  servers: RedisServers,
  {
    deployment,
    work,
  }: { readonly deployment: RedisDeployment; readonly work: (send: RedisCommand) => Promise<R> },
  signal: AbortSignal,
): Promise<R> {
  const { addresses, access } = deployment;
  if (deployment.kind === 'server')
    return await tryAddresses(addresses.slice(0, 1), signal, (at) =>
      servers.use({ ...at, ...access }, work, signal),
    );
  if (deployment.kind === 'cluster')
    return await tryAddresses(addresses, signal, (at) =>
      work(followRedirections(servers, { at, access, signal })),
    );
  const master = await tryAddresses(addresses, signal, (at) =>
    findMaster(servers, { at, deployment, signal }),
  );
  return await servers.use({ ...master, ...access }, work, signal);
}

/** @throws the error of the last address if none succeeds */
async function tryAddresses<R>(
  addresses: readonly RedisAddress[],
  signal: AbortSignal,
  run: (at: RedisAddress) => Promise<R>,
): Promise<R> {
  let last: unknown = new Error('the list of addresses is empty');
  for (const at of addresses) {
    try {
      return await run(at);
    } catch (error) {
      signal.throwIfAborted();
      last = error;
      if (!isUnreachable(error)) break; // other servers would respond the same
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
    deployment,
    signal,
  }: { at: RedisAddress; deployment: Extract<RedisDeployment, { kind: 'sentinel' }>; signal: AbortSignal },
): Promise<RedisAddress> {
  const { master, sentinelAccess } = deployment;
  const work = (send: RedisCommand) => send('SENTINEL', 'get-master-addr-by-name', master);
  const reply = await servers.use({ ...at, ...sentinelAccess }, work, signal);
  const address = Array.isArray(reply) ? parseAddress(`${reply[0]}:${reply[1]}`, at) : undefined;
  if (!address)
    throw new UnknownMasterError(
      `the sentinel at ${at.host}:${at.port} has no master ${JSON.stringify(master)}`,
    );
  return address;
}

const MAX_REDIRECTIONS = 5;
const REDIRECTION = /^(MOVED|ASK) \d{1,5} (\S{1,300})$/;

/** Sends commands to a server of a cluster, and follows its redirections to the server that has the key. */
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
    let isAsking = false;
    for (let left = MAX_REDIRECTIONS; ; left--) {
      const work = async (send: RedisCommand): Promise<RespValue> => {
        if (!isAsking) return await send(...words);
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
        isAsking = kind === 'ASK';
        current = next;
      }
    }
  };
}

/** Parses `HOST:PORT`; an empty host means that of the responding server. */
function parseAddress(text: string, from: RedisAddress): RedisAddress | undefined {
  const colon = text.lastIndexOf(':');
  const port = Number(text.slice(colon + 1));
  if (colon === -1 || !Number.isInteger(port) || port < 1 || port > 65_535) return undefined;
  return { host: text.slice(0, colon) || from.host, port };
}
