import { onAbort } from '#lib/time/abort-signal.ts';
import type { PooledClient } from '../network/client-pool.ts';
import { type Dialled, type DialOptions, dial } from '../network/guarded-socket.ts';
import { Secrets } from '../secrets.ts';

export interface AmqpAccess {
  /** `undefined` to authenticate by the client certificate. */
  readonly login: { readonly username: string; readonly password: string } | undefined;
  readonly vhost: string;
}

/** Client properties. */
const PROPERTIES = {
  product: 'autoscaler',
  connection_name: 'autoscaler',
  capabilities: { authentication_failure_close: true },
} as const;
const CHANNEL = 1;
const PASSIVE = Buffer.from([1]);
/** Limit per request, and of data without a request; one method of the maximum frame size, with heartbeats beside it. */
const MAX_BYTES = 256 * 1024;
/** Further requests fail. */
const MAX_PENDING = 10_000;

/** A connection to a broker, with one channel that processes one request at a time. */
export class AmqpConnection implements PooledClient {
  readonly #dialled: Dialled;
  readonly #decoder = new AmqpDecoder();
  #waiting: PromiseWithResolvers<AmqpMethod> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #pending = 0;
  #isChannelOpen = false;
  #receivedBytes = 0;
  readonly #secrets: Secrets;
  #failure: Error | undefined;

  private constructor(dialled: Dialled, { login }: AmqpAccess) {
    this.#dialled = dialled;
    this.#secrets = new Secrets([login?.password]);
    const { socket } = dialled;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the connection is closed')));
  }

  /** Connects and authenticates. @throws the connection error, or that of the broker */
  static async connect(options: AmqpAccess & DialOptions, signal: AbortSignal): Promise<AmqpConnection> {
    const { login, vhost } = options;
    const connection = new AmqpConnection(await dial(options, signal), options);
    using _aborted = onAbort(signal, () => connection.#fail(signal.reason));
    try {
      await connection.#exchange(PROTOCOL_HEADER, METHODS.start);
      const [mechanism, response] = login
        ? ['PLAIN', `\0${login.username}\0${login.password}`]
        : ['EXTERNAL', ''];
      const client = [
        encodeTable(PROPERTIES),
        encodeShortString(mechanism),
        encodeLongString(response),
        encodeShortString('en_US'),
      ];
      await connection.#exchange(encodeMethod(0, METHODS.startOk, ...client), METHODS.tune);
      const limits = [u16(CHANNEL), u32(MAX_FRAME_BYTES), u16(0)];
      connection.#write(encodeMethod(0, METHODS.tuneOk, ...limits));
      const open = encodeMethod(
        0,
        METHODS.open,
        encodeShortString(vhost),
        encodeShortString(''),
        Buffer.alloc(1),
      );
      await connection.#exchange(open, METHODS.openOk);
      return connection;
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }

  get isBroken(): boolean {
    return this.#failure !== undefined;
  }

  /** Returns the number of ready messages in a queue. @throws the error of the broker, such as for a missing queue */
  async messageCount(queue: string): Promise<number> {
    if (this.#pending >= MAX_PENDING) throw new Error('too many pending requests');
    this.#pending++;
    try {
      const count = this.#last.then(() => this.#declare(queue));
      this.#last = count.catch(() => {}); // the caller has the error
      return await count;
    } finally {
      this.#pending--;
    }
  }

  destroy(): void {
    this.#fail(new Error('the connection is closed'));
  }

  /** Declares the queue passively, which changes nothing. The broker closes the channel if the queue is missing. */
  async #declare(queue: string): Promise<number> {
    if (!this.#isChannelOpen) {
      const open = encodeMethod(CHANNEL, METHODS.channelOpen, encodeShortString(''));
      await this.#exchange(open, METHODS.channelOpenOk);
      this.#isChannelOpen = true;
    }
    const fields = [u16(0), encodeShortString(queue), PASSIVE, encodeTable({})];
    const declare = encodeMethod(CHANNEL, METHODS.queueDeclare, ...fields);
    return readMessageCount(await this.#exchange(declare, METHODS.queueDeclareOk));
  }

  /** @throws the reason for which the broker closed the channel or connection instead */
  async #exchange(bytes: Buffer, expected: string): Promise<AmqpMethod> {
    if (this.#failure) throw this.#failure;
    const waiting = Promise.withResolvers<AmqpMethod>();
    this.#waiting = waiting;
    this.#receivedBytes = 0;
    this.#write(bytes);
    const method = await waiting.promise;
    if (method.id === expected) return method;
    if (method.id === METHODS.channelClose) throw this.#closeError(method);
    const error = new Error('unexpected frame: no pending request');
    this.#fail(error);
    throw error;
  }

  #write(bytes: Buffer): void {
    if (!this.#failure) this.#dialled.socket.write(bytes);
  }

  #receive(chunk: Buffer): void {
    if (this.#failure) return;
    try {
      this.#receivedBytes += chunk.length;
      if (this.#receivedBytes > MAX_BYTES) throw new Error(`the response is longer than ${MAX_BYTES} bytes`);
      for (const method of this.#decoder.decode(chunk)) this.#handle(method);
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #handle(method: AmqpMethod): void {
    if (method.id === METHODS.close) throw this.#closeError(method);
    if (method.id === METHODS.channelClose) {
      this.#isChannelOpen = false;
      this.#write(encodeMethod(method.channel, METHODS.channelCloseOk));
    }
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting.resolve(method);
    else if (method.id !== METHODS.channelClose) throw new Error('unexpected frame: no pending request');
  }

  #closeError(method: AmqpMethod): Error {
    return new Error(this.#secrets.redact(readCloseReason(method)));
  }

  #fail(error: Error): void {
    if (this.#failure) return;
    this.#failure = error;
    this.#dialled.destroy();
    this.#waiting?.reject(error);
  }
}

/** A received method of AMQP 0-9-1. */
export interface AmqpMethod {
  readonly channel: number;
  /** Class and method numbers, such as `10.30`. */
  readonly id: string;
  readonly content: Buffer;
}

/** IDs of the supported methods. */
export const METHODS = {
  start: '10.10',
  startOk: '10.11',
  tune: '10.30',
  tuneOk: '10.31',
  open: '10.40',
  openOk: '10.41',
  close: '10.50',
  channelOpen: '20.10',
  channelOpenOk: '20.11',
  channelClose: '20.40',
  channelCloseOk: '20.41',
  queueDeclare: '50.10',
  queueDeclareOk: '50.11',
} as const;

const PROTOCOL_HEADER = Buffer.from([...Buffer.from('AMQP'), 0, 0, 9, 1]);
/** Negotiated with the broker; a longer frame is an error. */
const MAX_FRAME_BYTES = 131_072;

const [METHOD, HEARTBEAT, END] = [1, 8, 0xce];
const HEADER_BYTES = 7;
const MAX_SHORT_BYTES = 255;

/** Decodes a stream of bounded frames in linear time. */
export class AmqpDecoder {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #needed = HEADER_BYTES;

  /** Returns the methods that are complete with these bytes. @throws an Error if they are invalid */
  decode(chunk: Buffer): readonly AmqpMethod[] {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#needed) return [];
    const bytes = Buffer.concat(this.#chunks.splice(0));
    const methods: AmqpMethod[] = [];
    let at = 0;
    for (;;) {
      const left = bytes.length - at;
      this.#needed = HEADER_BYTES;
      if (left < HEADER_BYTES) break;
      const size = bytes.readUInt32BE(at + 3);
      if (size > MAX_FRAME_BYTES) throw unreadable(bytes, at);
      this.#needed = HEADER_BYTES + size + 1;
      if (left < this.#needed) break;
      const method = readMethod(bytes.subarray(at, at + this.#needed));
      if (method) methods.push(method);
      at += this.#needed;
    }
    this.#bytes = bytes.length - at;
    if (this.#bytes > 0) this.#chunks.push(bytes.subarray(at));
    return methods;
  }
}

/** Encodes a method frame. */
export function encodeMethod(channel: number, id: string, ...fields: readonly Buffer[]): Buffer {
  const [classId = 0, methodId = 0] = id.split('.').map(Number);
  const content = Buffer.concat([u16(classId), u16(methodId), ...fields]);
  return Buffer.concat([
    Buffer.from([METHOD]),
    u16(channel),
    u32(content.length),
    content,
    Buffer.from([END]),
  ]);
}

/** @throws if the string is longer than 255 bytes */
export function encodeShortString(text: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length > MAX_SHORT_BYTES)
    throw new Error(`${JSON.stringify(text.slice(0, 50))} is longer than ${MAX_SHORT_BYTES} bytes`);
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

export function encodeLongString(bytes: string | Buffer): Buffer {
  return Buffer.concat([u32(Buffer.byteLength(bytes)), Buffer.from(bytes)]);
}

/** Encodes a table of strings, booleans and tables. */
export function encodeTable(
  fields: Readonly<Record<string, string | true | Readonly<Record<string, true>>>>,
): Buffer {
  const encoded = Object.entries(fields).flatMap(([name, value]) => [
    encodeShortString(name),
    value === true
      ? Buffer.from('t\x01')
      : typeof value === 'string'
        ? Buffer.concat([Buffer.from('S'), encodeLongString(value)])
        : Buffer.concat([Buffer.from('F'), encodeTable(value)]),
  ]);
  return encodeLongString(Buffer.concat(encoded));
}

export function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Reads the message count of `queue.declare-ok`, which has name, message count and consumer count. */
export function readMessageCount({ content }: AmqpMethod): number {
  const at = 1 + (content[0] ?? 0);
  if (content.length < at + 4) throw new Error('the broker returned no message count');
  return content.readUInt32BE(at);
}

/** Reads the reason for closing a channel or connection: a code and a text. */
export function readCloseReason({ content }: AmqpMethod): string {
  if (content.length < 3) return 'the broker gave no reason';
  const text = content.subarray(3, 3 + (content[2] ?? 0)).toString('utf8');
  return `${content.readUInt16BE(0)} ${text}`;
}

/** @returns `undefined` for a heartbeat */
function readMethod(frame: Buffer): AmqpMethod | undefined {
  const type = frame[0];
  if (frame.at(-1) !== END || (type !== METHOD && type !== HEARTBEAT)) throw unreadable(frame, 0);
  if (type === HEARTBEAT) return undefined;
  const content = frame.subarray(HEADER_BYTES, -1);
  if (content.length < 4) throw unreadable(frame, 0);
  return {
    channel: frame.readUInt16BE(1),
    id: `${content.readUInt16BE(0)}.${content.readUInt16BE(2)}`,
    content: content.subarray(4),
  };
}

/** A broker with another protocol version sends its protocol header instead of a frame. */
function unreadable(bytes: Buffer, at: number): Error {
  const isVersion = bytes.subarray(at, at + 4).equals(PROTOCOL_HEADER.subarray(0, 4));
  return new Error(
    isVersion ? 'the broker does not speak AMQP 0-9-1' : 'the response is not valid AMQP 0-9-1',
  );
}
