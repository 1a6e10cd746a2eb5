import type dns from 'node:dns';
import { once } from 'node:events';
import { isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions as TlsOptions } from 'node:tls';
import { onAbort } from '#lib/time/on-abort.ts';
import type { AllowedHosts } from '../http/allowed-hosts.ts';
import { GuardedSocket } from '../http/guarded-socket.ts';
import type { KeptClient } from '../kept-clients.ts';
import { RespDecoder, RespError, type RespValue } from './resp-decoder.ts';

/** Who asks a server, and how the connection is encrypted. */
export interface RedisAccess {
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

/** What is dialled. */
export interface RedisDial extends RedisAccess {
  readonly host: string;
  readonly port: number;
  readonly database: number;
  readonly allowedHosts: AllowedHosts;
  /** Finds the addresses of a name; by default, as the system does. */
  readonly lookup?: typeof dns.lookup | undefined;
}

/** Commands that wait for their response; more are refused. */
const MAX_PENDING = 10_000;

/** A connection to one server of Redis: commands go out as they come, responses come in their order. */
export class RedisConnection implements KeptClient {
  readonly #socket: Socket;
  readonly #raw: Socket;
  readonly #decoder = new RespDecoder();
  readonly #pending: PromiseWithResolvers<RespValue>[] = [];
  #breakage: Error | undefined;

  private constructor({ socket, raw }: { readonly socket: Socket; readonly raw: Socket }) {
    this.#socket = socket;
    this.#raw = raw;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.#break(error));
    socket.on('close', () => this.#break(new Error('the connection was closed')));
  }

  /** Connects, and says who asks. @throws when it cannot, or when the server does not know who asks */
  static async connect(options: RedisDial, signal: AbortSignal): Promise<RedisConnection> {
    const { host, port, database, username, password, tls } = options;
    const raw = new GuardedSocket(options);
    using _aborted = onAbort(signal, () => raw.destroy(signal.reason));
    const connected = tls
      ? // TLS of Node takes over what it is given, and says in an error of its own what broke it.
        secured(raw, tlsOptions(host, tls))
      : raw;
    const connection = new RedisConnection({ socket: connected, raw });
    const ready = once(connected, tls ? 'secureConnect' : 'connect');
    raw.dial(port, host);
    try {
      await ready;
      raw.setNoDelay(true).setKeepAlive(true);
      if (password !== undefined)
        await connection.send('AUTH', ...(username === undefined ? [] : [username]), password);
      if (database !== 0) await connection.send('SELECT', `${database}`);
      await connection.send('PING');
      return connection;
    } catch (error) {
      connection.destroy();
      throw signal.aborted ? signal.reason : (raw.breakage ?? error);
    }
  }

  get isBroken(): boolean {
    return this.#breakage !== undefined;
  }

  get bytesRead(): number {
    return this.#raw.bytesRead;
  }

  /** Sends one command. @throws what the server refuses, or why nothing can be asked any more */
  async send(...words: readonly string[]): Promise<RespValue> {
    if (this.#breakage) throw this.#breakage;
    if (this.#pending.length >= MAX_PENDING) throw new Error('too many commands wait for their responses');
    const response = Promise.withResolvers<RespValue>();
    this.#pending.push(response);
    this.#socket.write(encodeCommand(words));
    const value = await response.promise;
    if (value instanceof RespError) throw new Error(value.message);
    return value;
  }

  destroy(): void {
    this.#break(new Error('the connection was closed'));
  }

  #receive(chunk: Buffer): void {
    if (this.#breakage) return;
    try {
      for (const value of this.#decoder.decode(chunk)) {
        const waiting = this.#pending.shift();
        if (!waiting) throw new Error('the server responds to what nobody asked');
        waiting.resolve(value);
      }
    } catch (error) {
      this.#break(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #break(error: Error): void {
    if (this.#breakage) return;
    this.#breakage = error;
    this.#socket.destroy();
    this.#raw.destroy();
    for (const { reject } of this.#pending.splice(0)) reject(error);
  }
}

function encodeCommand(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}

function secured(raw: Socket, options: TlsOptions): Socket {
  const socket = connectTls({ ...options, socket: raw });
  raw.on('error', (error) => socket.destroy(error));
  return socket;
}

function tlsOptions(host: string, tls: NonNullable<RedisAccess['tls']>): TlsOptions {
  const { isUnverified, ...files } = tls;
  return {
    host,
    servername: isIP(host) === 0 ? host : '',
    rejectUnauthorized: !isUnverified,
    ...Object.fromEntries(Object.entries(files).filter(([, text]) => text !== undefined)),
  };
}
