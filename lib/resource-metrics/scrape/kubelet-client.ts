import type net from 'node:net';
import { Client } from 'undici';
import { formatAddress, type ScrapeTarget } from '#lib/resource-metrics/nodes/node-address.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';
import { AnswerMemory } from './answer-memory.ts';
import type { Dialer } from './dialer.ts';
import { readAnswer, readBeginning, tooLong } from './read-answer.ts';

/** Enough to say why not. */
const MAX_REFUSAL_BYTES = 16 * 1024;

/** A longer refusal is cut in the error. */
const MAX_REFUSAL_LENGTH = 200;

/** What a kubelet client needs from outside. */
export interface KubeletClientOptions {
  readonly clock: Clock;
  readonly dialer: Pick<Dialer, 'dial'>;
  readonly scheme: 'https' | 'http';
  /** The value of the Authorization header; asked for at every request, for tokens rotate. */
  readonly authorization: () => Promise<string | undefined>;
  /** Bounds the whole of a question: dialling, where there is no connection, and the answer. */
  readonly requestTimeoutMs: number;
  /** How long an idle connection is kept. */
  readonly keepAliveMs: number;
  /** A longer answer is refused. */
  readonly maxAnswerBytes: number;
}

/** A kubelet that answered, but not with 200. */
export class KubeletRefusal extends Error {
  readonly statusCode: number;

  constructor(statusCode: number, text: string) {
    super(`HTTP status ${statusCode}${text === '' ? '' : `: ${text}`}`);
    this.statusCode = statusCode;
  }
}

/** A socket, and what speaks HTTP on it. */
interface Connection {
  readonly socket: net.Socket;
  readonly http: Client;
}

/** Asks kubelets, over one kept-alive connection each. */
export class KubeletClient {
  readonly #options: KubeletClientOptions;
  readonly #connections = new Map<string, Connection>();
  /** Fewer than all once file descriptors have run out: those who ask us need some, too, and so do files. */
  #mostKept = Number.POSITIVE_INFINITY;
  readonly #memory: AnswerMemory;

  constructor(options: KubeletClientOptions) {
    this.#options = options;
    this.#memory = new AnswerMemory(options.clock);
  }

  /**
   * Asks one kubelet one question.
   *
   * A kept connection that the kubelet closed while the question was on its way is replaced, once.
   *
   * @throws {KubeletRefusal} for every status but 200; an Error with the cause in words for the rest
   */
  async get(target: ScrapeTarget, path: string, signal: AbortSignal): Promise<Buffer> {
    const { clock, requestTimeoutMs } = this.#options;
    const expired = () => new Error(`no complete answer within ${formatDuration(requestTimeoutMs)}`);
    using deadline = startDeadline(clock, requestTimeoutMs, { signal, expired });
    return await this.#ask(target, path, deadline.signal);
  }

  async #ask(target: ScrapeTarget, path: string, signal: AbortSignal): Promise<Buffer> {
    const address = formatAddress(target);
    const kept = this.#connections.get(address);
    if (kept) {
      try {
        return await this.#request(kept, path, signal);
      } catch (error) {
        if (error instanceof KubeletRefusal || signal.aborted || !wasClosed(error)) throw error;
      }
    }
    const socket = await this.#dial(target, signal);
    const connection = this.#keep(address, socket);
    try {
      return await this.#request(connection, path, signal);
    } finally {
      if (this.#connections.size > this.#mostKept) await close(connection);
    }
  }

  async #dial(target: ScrapeTarget, signal: AbortSignal): Promise<net.Socket> {
    try {
      return await this.#options.dialer.dial(target, signal);
    } catch (error) {
      if (codeOf(error) === 'EMFILE') this.#mostKept = Math.floor(this.#connections.size / 2);
      throw error;
    }
  }

  /** Closes the connections to every address (`host:port`) but these. */
  async retain(addresses: ReadonlySet<string>): Promise<void> {
    for (const [address, connection] of this.#connections) {
      if (!addresses.has(address)) await close(connection);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.retain(new Set());
  }

  #keep(address: string, socket: net.Socket): Connection {
    const { scheme, keepAliveMs } = this.#options;
    let dialed: net.Socket | undefined = socket;
    const http = new Client(`${scheme}://${address}`, {
      connect: (_options, callback) => {
        const taken = dialed;
        dialed = undefined;
        queueMicrotask(() => {
          if (taken) callback(null, taken);
          else callback(new Error('the kubelet closed the connection'), null);
        });
      },
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      headersTimeout: 0, // the request's own deadline bounds both
      bodyTimeout: 0,
    });
    const connection = { socket, http };
    this.#connections.set(address, connection);
    socket.once('close', () => {
      if (this.#connections.get(address) === connection) this.#connections.delete(address);
      void close(connection);
    });
    return connection;
  }

  async #request({ http }: Connection, path: string, signal: AbortSignal): Promise<Buffer> {
    const authorization = await this.#options.authorization();
    const { statusCode, headers, body } = await http.request({
      method: 'GET',
      path,
      headers: authorization === undefined ? {} : { authorization },
      signal,
    });
    body.on('error', () => {}); // whoever reads it hears of it; when it is left, nobody has to
    if (statusCode !== 200) {
      const text = await readBeginning(body, MAX_REFUSAL_BYTES);
      throw new KubeletRefusal(statusCode, text.trim().slice(0, MAX_REFUSAL_LENGTH));
    }
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      body.destroy();
      throw new Error(`the answer is encoded, though that was not asked for: ${encoding}`);
    }
    const { maxAnswerBytes: maxBytes } = this.#options;
    if (Number(headers['content-length']) > maxBytes) {
      body.destroy();
      throw tooLong(maxBytes);
    }
    return await readAnswer(body, { maxBytes, memory: this.#memory, signal });
  }
}

async function close({ socket, http }: Connection): Promise<void> {
  socket.destroy();
  await http.destroy();
}

function wasClosed(error: unknown): boolean {
  const code = codeOf(error);
  return (
    code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_DESTROYED'
  );
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
