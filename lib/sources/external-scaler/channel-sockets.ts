import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { ChannelCredentials } from '@grpc/grpc-js';
import { TokenBucket } from '#lib/concurrency/token-bucket.ts';
import type { Clock } from '#lib/time/clock.ts';

/** Options of {@link ChannelSockets}. */
export interface ChannelSocketsOptions {
  readonly clock: Clock;
  /** How many servers the channel connects to. */
  readonly addressCount: number;
}

/** Why a channel ends whose server sends frames that belong to no call and no message. */
export class ScalerFlood extends Error {}

/** In frames. Headers cost more, for up to 128 fields are decoded. */
const COST = { frame: 1, headers: 16, connection: 32 } as const;
/** A response of 1 MiB has 64 frames of data, two of headers, and what estimates the bandwidth. */
const PER_CALL = 160;
const PER_MESSAGE = 8;
/** For keepalive and for changed settings, while there is no call and no message. */
const PER_SECOND = 10;
const BURST = 2_000;

/** HEADERS, PUSH_PROMISE and CONTINUATION (RFC 9113, section 6). */
const HEADERS_TYPES: readonly number[] = [1, 5, 9];
const FRAME_HEAD_BYTES = 9;

/**
 * The connections of a channel. gRPC leaves one open for as long as its server does that has accepted it and sends nothing, even
 * when the channel is closed; and it handles frames without end, most of which no flow control counts. So the server may
 * send some frames for each call and each message, and some in each second; beyond that all connections are closed, and none
 * is made any more.
 */
export class ChannelSockets {
  readonly #open = new Set<Duplex>();
  readonly #frames: TokenBucket;
  #flood: ScalerFlood | undefined;

  constructor({ clock, addressCount }: ChannelSocketsOptions) {
    const burst = BURST + 2 * COST.connection * addressCount;
    this.#frames = new TokenBucket({ clock, perSecond: PER_SECOND, burst });
  }

  /** Why the connections were closed, where it was for a flood of frames. */
  get flood(): ScalerFlood | undefined {
    return this.#flood;
  }

  /** The credentials, by which every connection goes before it is used. */
  watch(credentials: ChannelCredentials): ChannelCredentials {
    const make = credentials._createSecureConnector.bind(credentials);
    credentials._createSecureConnector = (...channel) => {
      const connector = make(...channel);
      const connect = connector.connect.bind(connector);
      connector.connect = async (socket) => {
        this.#add(socket);
        const connected = await connect(socket);
        const metered = new MeteredSocket(connected.socket, (cost) => this.#take(cost));
        return { ...connected, socket: metered as Duplex as Socket };
      };
      return connector;
    };
    return credentials;
  }

  /** Allows the frames of one call. */
  allowCall(): void {
    this.#frames.add(PER_CALL);
  }

  /** Allows the frames of one message of a stream. */
  allowMessage(): void {
    this.#frames.add(PER_MESSAGE);
  }

  destroy(): void {
    for (const socket of this.#open) socket.destroy();
  }

  #add(socket: Socket): void {
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    this.#take(COST.connection);
    if (!this.#flood) return;
    socket.destroy();
    throw this.#flood;
  }

  /** @returns whether the frames may be handled */
  #take(cost: number): boolean {
    if (this.#flood) return false;
    if (this.#frames.tryTake(cost)) return true;
    this.#flood = new ScalerFlood('the server sends more frames than its calls and messages have');
    this.destroy();
    return false;
  }
}

/** Passes on what a socket receives while its HTTP/2 frames may be handled. */
class MeteredSocket extends Duplex {
  readonly #socket: Socket;
  readonly #head = Buffer.alloc(FRAME_HEAD_BYTES);
  #headBytes = 0;
  /** Of the payload of the current frame. */
  #leftBytes = 0;

  /** @param take is called with the cost of all frames that begin in one chunk */
  constructor(socket: Socket, take: (cost: number) => boolean) {
    super({ allowHalfOpen: true });
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      if (!take(this.#costOf(chunk))) return;
      if (!this.push(chunk)) socket.pause();
    });
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _writev(chunks: { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #costOf(chunk: Buffer): number {
    let cost = 0;
    for (let at = 0; at < chunk.length; ) {
      const skipped = Math.min(this.#leftBytes, chunk.length - at);
      this.#leftBytes -= skipped;
      at += skipped;
      const copied = chunk.copy(this.#head, this.#headBytes, at, at + FRAME_HEAD_BYTES - this.#headBytes);
      this.#headBytes += copied;
      at += copied;
      if (this.#headBytes < FRAME_HEAD_BYTES) continue;
      this.#headBytes = 0;
      this.#leftBytes = this.#head.readUIntBE(0, 3);
      cost += HEADERS_TYPES.includes(this.#head.readUInt8(3)) ? COST.headers : COST.frame;
    }
    return cost;
  }
}
