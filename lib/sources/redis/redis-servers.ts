import type { Clock } from '#lib/time/clock.ts';
import type { NetworkOptions } from '../network/allowed-hosts.ts';
import { ClientPool } from '../network/client-pool.ts';
import type { SourceTls } from '../network/tls.ts';
import { digest } from '../query.ts';
import { Secrets } from '../secrets.ts';
import { type RedisAccess, RedisConnection, type RespValue } from './redis-client.ts';

/** Where a Redis server is, and who asks it. */
export interface RedisServerOptions extends RedisAccess {
  readonly host: string;
  readonly port: number;
  /** `undefined` for connections that are not encrypted. */
  readonly tls: SourceTls | undefined;
}

/** Sends one command; what comes back is bounded, but not checked. */
export type RedisCommand = (...words: readonly string[]) => Promise<RespValue>;

/** What servers are asked with. */
export interface RedisServersOptions extends NetworkOptions {
  readonly clock: Clock;
}

/** Of several servers that are tried, the others must have their time. */
const CONNECT_TIMEOUT_MS = 4000;

/** Redis servers, over connections that are kept and shared. */
export class RedisServers implements Disposable {
  readonly #clients: ClientPool<RedisConnection>;
  readonly #options: RedisServersOptions;

  constructor(options: RedisServersOptions) {
    this.#options = options;
    this.#clients = new ClientPool({ ...options, connectTimeoutMs: CONNECT_TIMEOUT_MS });
  }

  /**
   * Asks a server by some commands.
   *
   * @throws an Error that begins with `connection to redis failed` where there is no connection
   */
  async use<R>(
    server: RedisServerOptions,
    work: (send: RedisCommand) => Promise<R>,
    signal: AbortSignal,
  ): Promise<R> {
    return await this.#clients.use(serverKey(server), {
      connect: (connecting) => this.#connect(server, connecting),
      work: (client) => work((...words) => client.send(...words)),
      signal,
    });
  }

  [Symbol.dispose](): void {
    this.#clients[Symbol.dispose]();
  }

  async #connect(server: RedisServerOptions, signal: AbortSignal): Promise<RedisConnection> {
    const { host, port } = server;
    const { allowedHosts, findAddresses } = this.#options;
    try {
      return await RedisConnection.connect({ ...server, allowedHosts, findAddresses }, signal);
    } catch (error) {
      // Other servers may have said where it is, and know who asks.
      const secrets = new Secrets([server.password]);
      const cause = secrets.redactError(error);
      throw new Error(`connection to redis failed: ${secrets.redact(`${host}:${port}: ${cause.message}`)}`, {
        cause,
      });
    }
  }
}

/** Tells servers, and who asks them, apart; holds no secret. */
function serverKey(server: RedisServerOptions): string {
  const { host, port, database, username, password, tls } = server;
  return JSON.stringify([host, port, database, digest([username, password, tls ?? null])]);
}
