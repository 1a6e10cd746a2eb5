import { onAbort } from '#lib/time/abort-signal.ts';
import type { KeptClient } from '../network/client-pool.ts';
import { type Dialled, type DialOptions, dial } from '../network/guarded-socket.ts';
import { Secrets } from '../secrets.ts';
import { RespDecoder, RespError, type RespValue } from './resp-decoder.ts';

/** Who asks a server, and what. */
export interface RedisAccess {
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
}

/** Commands that wait for their response; more are refused. */
const MAX_PENDING = 10_000;

/** A connection to one server of Redis: commands go out as they come, responses come in their order. */
export class RedisConnection implements KeptClient {
  readonly #dialled: Dialled;
  readonly #decoder = new RespDecoder();
  readonly #pending: PromiseWithResolvers<RespValue>[] = [];
  readonly #secrets: Secrets;
  #breakage: Error | undefined;

  private constructor(dialled: Dialled, { password }: RedisAccess) {
    this.#dialled = dialled;
    this.#secrets = new Secrets([password]);
    const { socket } = dialled;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.#break(error));
    socket.on('close', () => this.#break(new Error('the connection was closed')));
  }

  /** Connects, and says who asks. @throws when it cannot, or when the server does not know who asks */
  static async connect(options: RedisAccess & DialOptions, signal: AbortSignal): Promise<RedisConnection> {
    const { username, password, database } = options;
    const connection = new RedisConnection(await dial(options, signal), options);
    using _aborted = onAbort(signal, () => connection.#break(signal.reason));
    try {
      if (password !== undefined)
        await connection.send('AUTH', ...(username === undefined ? [] : [username]), password);
      if (database !== 0) await connection.send('SELECT', `${database}`);
      await connection.send('PING');
      return connection;
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }

  get isBroken(): boolean {
    return this.#breakage !== undefined;
  }

  /** Sends one command. @throws what the server refuses, or why nothing can be asked any more */
  async send(...words: readonly string[]): Promise<RespValue> {
    if (this.#breakage) throw this.#breakage;
    if (this.#pending.length >= MAX_PENDING) throw new Error('too many commands wait for their responses');
    const response = Promise.withResolvers<RespValue>();
    this.#pending.push(response);
    this.#dialled.socket.write(encodeCommand(words));
    const value = await response.promise;
    if (value instanceof RespError) throw new Error(this.#secrets.tell(value.message));
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
    this.#dialled.destroy();
    for (const { reject } of this.#pending.splice(0)) reject(error);
  }
}

function encodeCommand(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}
