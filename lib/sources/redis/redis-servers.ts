import { createHash } from 'node:crypto';
import dns from 'node:dns';
import { isIP } from 'node:net';
import type { Clock } from '#lib/time/clock.ts';
import type { AllowedHosts } from '../http/allowed-hosts.ts';
import { allowedLookup, notAllowed } from '../http/allowed-lookup.ts';
import { KeptClients } from '../kept-clients.ts';

/** Where a Redis server is, and who asks it. */
export interface RedisServerOptions {
  readonly host: string;
  readonly port: number;
  readonly database: number;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** `undefined` for connections that are not encrypted. */
  readonly tls:
    | {
        readonly ca?: string | undefined;
        readonly cert?: string | undefined;
        readonly key?: string | undefined;
        readonly passphrase?: string | undefined;
        readonly isUnverified: boolean;
      }
    | undefined;
}

/** Sends one command; what comes back is not checked. */
export type RedisCommand = (...words: readonly string[]) => Promise<unknown>;

/** What is used of a client. */
interface RedisClient {
  sendCommand(words: string[]): Promise<unknown>;
  destroy(): void;
}

const CONNECT_TIMEOUT_MS = 10_000;

/** Redis servers, over connections that are kept. */
export class RedisServers implements Disposable {
  readonly #clients: KeptClients<RedisClient>;
  readonly #allowedHosts: AllowedHosts;

  constructor({ clock, allowedHosts }: { readonly clock: Clock; readonly allowedHosts: AllowedHosts }) {
    this.#allowedHosts = allowedHosts;
    this.#clients = new KeptClients({ clock, close: (client) => client.destroy() });
  }

  /**
   * Asks a server by some commands.
   *
   * @throws an Error that begins with `connection to redis failed` where there is no connection
   */
  async ask<R>(
    server: RedisServerOptions,
    work: (send: RedisCommand) => Promise<R>,
    signal: AbortSignal,
  ): Promise<R> {
    return await this.#clients.use(serverKey(server), {
      connect: () => this.#connect(server),
      work: (client) => work((...words) => client.sendCommand([...words])),
      signal,
    });
  }

  [Symbol.dispose](): void {
    this.#clients[Symbol.dispose]();
  }

  async #connect({
    host,
    port,
    database,
    username,
    password,
    tls,
  }: RedisServerOptions): Promise<RedisClient> {
    const { createClient } = await import('@redis/client');
    if (isIP(host) !== 0 && !this.#allowedHosts.allows(host, host))
      throw failed(host, port, notAllowed(host));
    const encrypted = tls && {
      tls: true as const,
      servername: isIP(host) === 0 ? host : '',
      rejectUnauthorized: !tls.isUnverified,
      ...Object.fromEntries(
        (['ca', 'cert', 'key', 'passphrase'] as const).flatMap((name) =>
          tls[name] ? [[name, tls[name]]] : [],
        ),
      ),
    };
    const client = createClient({
      socket: {
        ...{ host, port, connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: false },
        lookup: allowedLookup(this.#allowedHosts, dns.lookup),
        ...encrypted,
      },
      ...(username && { username }),
      ...(password && { password }),
      ...{ database, disableOfflineQueue: true, RESP: 2 },
    });
    client.on('error', () => {}); // what is asked fails, too
    try {
      await client.connect();
      await client.ping();
      return client;
    } catch (cause) {
      if (client.isOpen) client.destroy();
      throw failed(host, port, cause);
    }
  }
}

/** Tells servers, and who asks them, apart; holds no secret. */
export function serverKey(server: RedisServerOptions): string {
  const { host, port, database, username, password, tls } = server;
  const secret = createHash('sha256')
    .update(JSON.stringify([username, password, tls ?? null]))
    .digest('hex');
  return JSON.stringify([host, port, database, secret.slice(0, 32)]);
}

function failed(host: string, port: number, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Error(`connection to redis failed: ${host}:${port}: ${reason}`, { cause });
}
