import { describeError } from '#lib/telemetry/error-text.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { NetworkOptions } from '../network/allowed-hosts.ts';
import { ClientPool } from '../network/client-pool.ts';
import type { SourceServer } from '../network/tls.ts';
import { digest } from '../query.ts';
import { Secrets } from '../secrets.ts';
import { type RedisAccess, RedisConnection, type RespValue } from './redis-client.ts';

export interface RedisServerOptions extends RedisAccess, SourceServer {}

/** Sends one command. The response is bounded, but not validated. */
export type RedisCommand = (...words: readonly string[]) => Promise<RespValue>;

interface RedisServersOptions extends NetworkOptions {
  readonly clock: Clock;
}

/** Short, since several servers may be tried within the timeout of a query. */
const CONNECT_TIMEOUT_MS = 4000;

/** Queries Redis servers over pooled connections. */
export class RedisServers implements Disposable {
  readonly #clients: ClientPool<RedisConnection>;
  readonly #options: RedisServersOptions;

  constructor(options: RedisServersOptions) {
    this.#options = options;
    this.#clients = new ClientPool({ ...options, connectTimeoutMs: CONNECT_TIMEOUT_MS });
  }

  /**
   * Runs commands on a server.
   *
   * @throws an Error that starts with `connection to redis failed` if it cannot connect
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
    const { allowedHosts, findAddresses, share } = this.#options;
    try {
      return await RedisConnection.connect({ ...server, allowedHosts, findAddresses, share }, signal);
    } catch (error) {
      // Another server may have sent the address, and has the credentials.
      const secrets = new Secrets([server.password]);
      const cause = secrets.redactError(error);
      const reason = describeError(new Error(`${host}:${port}`, { cause }));
      throw new Error(`connection to redis failed: ${secrets.redact(reason)}`, { cause });
    }
  }
}

/** Identifies a server and its credentials; contains no secret. */
function serverKey(server: RedisServerOptions): string {
  const { host, port, database, username, password, tls } = server;
  return JSON.stringify([host, port, database, digest([username, password, tls ?? null])]);
}
