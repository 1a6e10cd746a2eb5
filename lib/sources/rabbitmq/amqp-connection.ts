import { onAbort } from '#lib/time/abort-signal.ts';
import type { KeptClient } from '../network/client-pool.ts';
import { type Dialled, type DialOptions, dial } from '../network/guarded-socket.ts';
import { Secrets } from '../secrets.ts';
import {
  AmqpDecoder,
  type AmqpMethod,
  encodeMethod,
  longText,
  MAX_FRAME_BYTES,
  METHODS,
  messageCountIn,
  PROTOCOL_HEADER,
  reasonIn,
  shortText,
  table,
  u16,
  u32,
} from './amqp-frames.ts';

/** Who asks a broker, and where it looks. */
export interface AmqpAccess {
  /** `undefined` where the client certificate says it. */
  readonly login: { readonly username: string; readonly password: string } | undefined;
  readonly vhost: string;
}

/** What a broker is told of us. */
const PROPERTIES = {
  product: 'autoscaler',
  connection_name: 'autoscaler',
  capabilities: { authentication_failure_close: true },
} as const;
const CHANNEL = 1;
const PASSIVE = Buffer.from([1]);
/** More than this for one request, or without one, is an attack. */
const MAX_BYTES = 1024 * 1024;
/** Requests that wait for others; more are refused. */
const MAX_PENDING = 10_000;

/** A connection to a broker, with one channel on which one request is under way at a time. */
export class AmqpConnection implements KeptClient {
  readonly #dialled: Dialled;
  readonly #decoder = new AmqpDecoder();
  #waiting: PromiseWithResolvers<AmqpMethod> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #pending = 0;
  #isChannelOpen = false;
  #receivedBytes = 0;
  readonly #secrets: Secrets;
  #breakage: Error | undefined;

  private constructor(dialled: Dialled, { login }: AmqpAccess) {
    this.#dialled = dialled;
    this.#secrets = new Secrets([login?.password]);
    const { socket } = dialled;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.#break(error));
    socket.on('close', () => this.#break(new Error('the connection was closed')));
  }

  /** Connects, and says who asks. @throws when it cannot, or when the broker does not let it */
  static async connect(options: AmqpAccess & DialOptions, signal: AbortSignal): Promise<AmqpConnection> {
    const { login, vhost } = options;
    const connection = new AmqpConnection(await dial(options, signal), options);
    using _aborted = onAbort(signal, () => connection.#break(signal.reason));
    try {
      await connection.#exchange(PROTOCOL_HEADER, METHODS.start);
      const [mechanism, response] = login
        ? ['PLAIN', `\0${login.username}\0${login.password}`]
        : ['EXTERNAL', ''];
      const who = [table(PROPERTIES), shortText(mechanism), longText(response), shortText('en_US')];
      await connection.#exchange(encodeMethod(0, METHODS.startOk, ...who), METHODS.tune);
      const limits = [u16(CHANNEL), u32(MAX_FRAME_BYTES), u16(0)];
      connection.#write(encodeMethod(0, METHODS.tuneOk, ...limits));
      const open = encodeMethod(0, METHODS.open, shortText(vhost), shortText(''), Buffer.alloc(1));
      await connection.#exchange(open, METHODS.openOk);
      return connection;
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }

  get isBroken(): boolean {
    return this.#breakage !== undefined;
  }

  /** How many messages of a queue are ready. @throws what the broker says, as where there is no such queue */
  async messageCount(queue: string): Promise<number> {
    if (this.#pending >= MAX_PENDING) throw new Error('too many requests wait for their responses');
    this.#pending++;
    try {
      const count = this.#last.then(() => this.#declare(queue));
      this.#last = count.catch(() => {}); // told to who asked
      return await count;
    } finally {
      this.#pending--;
    }
  }

  destroy(): void {
    this.#break(new Error('the connection was closed'));
  }

  /** A passive declaration tells of a queue and changes nothing; for one that is missing the broker closes the channel. */
  async #declare(queue: string): Promise<number> {
    if (!this.#isChannelOpen) {
      const open = encodeMethod(CHANNEL, METHODS.channelOpen, shortText(''));
      await this.#exchange(open, METHODS.channelOpenOk);
      this.#isChannelOpen = true;
    }
    const fields = [u16(0), shortText(queue), PASSIVE, table({})];
    const declare = encodeMethod(CHANNEL, METHODS.queueDeclare, ...fields);
    return messageCountIn(await this.#exchange(declare, METHODS.queueDeclareOk));
  }

  /** @throws why a channel or the connection was closed instead */
  async #exchange(bytes: Buffer, expected: string): Promise<AmqpMethod> {
    if (this.#breakage) throw this.#breakage;
    const waiting = Promise.withResolvers<AmqpMethod>();
    this.#waiting = waiting;
    this.#receivedBytes = 0;
    this.#write(bytes);
    const method = await waiting.promise;
    if (method.id === expected) return method;
    if (method.id === METHODS.channelClose) throw this.#reasonIn(method);
    const error = new Error('the broker responds to what nobody asked');
    this.#break(error);
    throw error;
  }

  #write(bytes: Buffer): void {
    if (!this.#breakage) this.#dialled.socket.write(bytes);
  }

  #receive(chunk: Buffer): void {
    if (this.#breakage) return;
    try {
      this.#receivedBytes += chunk.length;
      if (this.#receivedBytes > MAX_BYTES) throw new Error(`the response is longer than ${MAX_BYTES} bytes`);
      for (const method of this.#decoder.decode(chunk)) this.#take(method);
    } catch (error) {
      this.#break(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #take(method: AmqpMethod): void {
    if (method.id === METHODS.close) throw this.#reasonIn(method);
    if (method.id === METHODS.channelClose) {
      this.#isChannelOpen = false;
      this.#write(encodeMethod(method.channel, METHODS.channelCloseOk));
    }
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting.resolve(method);
    else if (method.id !== METHODS.channelClose) throw new Error('the broker responds to what nobody asked');
  }

  #reasonIn(method: AmqpMethod): Error {
    return new Error(this.#secrets.tell(reasonIn(method)));
  }

  #break(error: Error): void {
    if (this.#breakage) return;
    this.#breakage = error;
    this.#dialled.destroy();
    this.#waiting?.reject(error);
  }
}
