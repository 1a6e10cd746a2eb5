import type net from 'node:net';
import { onAbort } from '#lib/time/on-abort.ts';
import type { AnswerMemory } from './answer-memory.ts';
import { KubeletExchange } from './kubelet-exchange.ts';

/** The kubelet closed the connection under a question. */
export class ConnectionClosed extends Error {
  constructor() {
    super('the kubelet closed the connection before its answer was complete');
  }
}

/** What is asked, by whom, how long the answer is waited for, and what is made of it. */
export interface Question<Read> {
  readonly path: string;
  /** The value of the Authorization header. */
  readonly authorization: string | undefined;
  readonly signal: AbortSignal;
  /** Reads the body of an answer at once: another is put in its place afterwards. */
  readonly read: (body: Buffer) => Read;
}

/** What a connection needs from outside. */
export interface KubeletConnectionOptions {
  /** The value of the Host header. */
  readonly host: string;
  /** A longer answer is refused. */
  readonly maxAnswerBytes: number;
  readonly memory: AnswerMemory;
}

/** Can stand in the head of a request without being taken for anything else. */
const PATH = /^\/[\x21-\x7e]*$/;
const HEADER_VALUE = /^[\x20-\x7e\x80-\xff]*$/;

/** A connection to one kubelet, over which it is asked one question after another. */
export class KubeletConnection {
  readonly #socket: net.Socket;
  readonly #options: KubeletConnectionOptions;
  /** What reads the answer that is under way, and what ends it early. */
  #current: { readonly exchange: KubeletExchange; readonly fail: (error: unknown) => void } | undefined;
  /** Settled when the last of the questions that were asked so far is. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(socket: net.Socket, options: KubeletConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('end', () => this.#current?.exchange.close());
    socket.on('error', (error) => this.#current?.fail(error));
    socket.on('close', () => this.#current?.fail(new ConnectionClosed()));
  }

  /** Whether it can take a question. */
  get isOpen(): boolean {
    return this.#socket.readyState === 'open';
  }

  /**
   * Asks, once the questions before are answered.
   *
   * @returns what was read of the answer
   * @throws {KubeletRefusal} for every status but 200; what `read` throws; {@link ConnectionClosed}, the signal's reason, or
   * why else there is no answer, and then the connection is closed
   */
  async ask<Read>(question: Question<Read>): Promise<Read> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    try {
      await before;
      return await this.#exchange(question);
    } finally {
      resolve();
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  async #exchange<Read>({ path, authorization, signal, read }: Question<Read>): Promise<Read> {
    signal.throwIfAborted();
    if (!this.isOpen) throw new ConnectionClosed();
    const request = this.#requestOf(path, authorization);
    const { promise, resolve, reject } = Promise.withResolvers<Read>();
    const room: Promise<void>[] = [];
    const fail = (error: unknown) => {
      this.#current = undefined;
      this.close();
      reject(error);
    };
    const settle = (isReusable: boolean, how: () => void) => {
      this.#current = undefined;
      if (!isReusable) this.close();
      if (room.length === 0) how();
      else Promise.all(room).then(how).catch(reject);
    };
    const readNow = (body: () => Buffer) => {
      try {
        resolve(read(body()));
      } catch (error) {
        reject(error);
      }
    };
    const listener = {
      wait: (until: Promise<void>) => room.push(this.#pausedUntil(until, fail)),
      answered: (body: () => Buffer, isReusable: boolean) => settle(isReusable, () => readNow(body)),
      refused: (error: Error, isReusable: boolean) => settle(isReusable, () => reject(error)),
    };
    const { memory, maxAnswerBytes: maxBytes } = this.#options;
    using exchange = new KubeletExchange(listener, { memory, maxBytes, signal, evict: fail });
    using _aborted = onAbort(signal, () => fail(signal.reason));
    this.#current = { exchange, fail };
    this.#socket.write(request, 'latin1');
    return await promise;
  }

  #read(chunk: Buffer): void {
    try {
      if (this.#current) this.#current.exchange.read(chunk);
      else this.close(); // nobody asked
    } catch (error) {
      this.#current?.fail(error);
    }
  }

  /** Takes nothing off the wire until then. */
  async #pausedUntil(until: Promise<void>, fail: (error: unknown) => void): Promise<void> {
    this.#socket.pause();
    try {
      await until;
    } catch (error) {
      fail(error);
      throw error;
    }
    this.#socket.resume();
  }

  #requestOf(path: string, authorization: string | undefined): string {
    if (!PATH.test(path)) throw new Error(`the path "${path}" cannot be asked for`);
    if (!HEADER_VALUE.test(authorization ?? '')) throw new Error('our token cannot be sent in a header');
    const credentials = authorization === undefined ? '' : `Authorization: ${authorization}\r\n`;
    return `GET ${path} HTTP/1.1\r\nHost: ${this.#options.host}\r\n${credentials}\r\n`;
  }
}
