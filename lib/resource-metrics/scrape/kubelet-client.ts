import type net from 'node:net';
import { formatAddress, type ScrapeTarget } from '#lib/resource-metrics/nodes/node-address.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';
import { AnswerMemory } from './answer-memory.ts';
import type { Dialer } from './dialer.ts';
import { ConnectionClosed, KubeletConnection, type Question } from './kubelet-connection.ts';
import { KubeletRefusal } from './kubelet-refusal.ts';

/** What a kubelet client needs from outside. */
export interface KubeletClientOptions {
  readonly clock: Clock;
  readonly dialer: Pick<Dialer, 'dial' | 'credentials'>;
  /** The value of the Authorization header; asked for at every request, for tokens rotate. */
  readonly authorization: () => Promise<string | undefined>;
  /** Bounds the whole of a question: dialling, where there is no connection, and the answer. */
  readonly requestTimeoutMs: number;
  /** How long an idle connection is kept. */
  readonly keepAliveMs: number;
  /** A longer answer is refused. */
  readonly maxAnswerBytes: number;
}

/** Asks kubelets, over one kept-alive connection each. */
export class KubeletClient {
  readonly #options: KubeletClientOptions;
  readonly #connections = new Map<string, KeptConnection>();
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
   * A kept connection that the kubelet closed while the question was on its way is replaced, once; one that was made
   * with another client certificate than is current is not used, for the kubelet goes on taking us for who we were.
   *
   * @returns what was read of the answer
   * @throws what `read` throws; {KubeletRefusal} for every status but 200; an Error with the cause in words for the rest
   */
  async get<Read>(
    target: ScrapeTarget,
    path: string,
    { signal, read }: Pick<Question<Read>, 'signal' | 'read'>,
  ): Promise<Read> {
    const { clock, requestTimeoutMs } = this.#options;
    const expired = () => new Error(`no complete answer within ${formatDuration(requestTimeoutMs)}`);
    using deadline = startDeadline(clock, requestTimeoutMs, { signal, expired });
    return await this.#ask(target, { path, read, signal: deadline.signal });
  }

  async #ask<Read>(target: ScrapeTarget, asked: Omit<Question<Read>, 'authorization'>): Promise<Read> {
    const address = formatAddress(target);
    const { signal } = asked;
    const question = { ...asked, authorization: await this.#options.authorization() };
    const certificate = this.#options.dialer.credentials?.cert;
    const kept = this.#connections.get(address);
    if (kept && kept.certificate !== certificate) kept.connection.close();
    else if (kept) {
      kept.usedAtMs = this.#options.clock.monotonicMs();
      try {
        return await kept.connection.ask(question);
      } catch (error) {
        if (error instanceof KubeletRefusal || signal.aborted || !wasClosed(error)) throw error;
      }
    }
    const connection = this.#keep(address, await this.#dial(target, signal), certificate);
    try {
      return await connection.ask(question);
    } finally {
      const isKept = this.#connections.get(address)?.connection === connection;
      if (!isKept || this.#connections.size > this.#mostKept) connection.close();
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

  /** Closes the connections to every address (`host:port`) but these, and those that nobody has used for long. */
  async retain(addresses: ReadonlySet<string>): Promise<void> {
    const { clock, keepAliveMs } = this.#options;
    const latestMs = clock.monotonicMs() - keepAliveMs;
    for (const [address, { connection, usedAtMs }] of this.#connections) {
      if (!addresses.has(address) || usedAtMs < latestMs) connection.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.retain(new Set());
  }

  #keep(address: string, socket: net.Socket, certificate: string | undefined): KubeletConnection {
    const { clock, maxAnswerBytes } = this.#options;
    const options = { host: address, maxAnswerBytes, memory: this.#memory };
    const connection = new KubeletConnection(socket, options);
    const kept = { connection, certificate, usedAtMs: clock.monotonicMs() };
    this.#connections.set(address, kept);
    socket.once('close', () => {
      if (this.#connections.get(address) === kept) this.#connections.delete(address);
    });
    return connection;
  }
}

interface KeptConnection {
  readonly connection: KubeletConnection;
  /** PEM of what it was made with, or of the one before, where that changed meanwhile; `undefined` without one. */
  readonly certificate: string | undefined;
  usedAtMs: number;
}

function wasClosed(error: unknown): boolean {
  const code = codeOf(error);
  return error instanceof ConnectionClosed || code === 'ECONNRESET' || code === 'EPIPE';
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
