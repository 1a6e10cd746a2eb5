import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSecureContext } from 'node:tls';
import {
  ChannelCredentials,
  type ChannelOptions,
  Client,
  type ClientReadableStream,
  connectivityState,
  credentials,
  type experimental,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import type { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { currentTenant } from '#lib/concurrency/tenant.ts';
import { TokenBucket } from '#lib/concurrency/token-bucket.ts';
import { onAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { PooledClient } from '../network/client-pool.ts';
import { longHandshake, MAX_HANDSHAKE_BYTES } from '../network/guarded-socket.ts';
import { SocketStream } from '../network/socket-stream.ts';
import { CIPHERS_WITHOUT_DHE, type SourceServer } from '../network/tls.ts';
import { ScalerFloodError } from './scaler-flood-error.ts';

export interface ScalerCall<T> {
  readonly method: 'IsActive' | 'StreamIsActive' | 'GetMetricSpec' | 'GetMetrics';
  readonly request: Buffer;
  readonly decode: (bytes: Uint8Array) => T;
}

/** A longer message is an error. */
const MAX_BYTES = 1024 * 1024;
/** Servers with default settings treat more frequent pings as an attack. */
const KEEPALIVE_MS = 301_000;
const KEEPALIVE_TIMEOUT_MS = 20_000;
const SERVICE_CONFIG = JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] });
/** Per stream; further messages wait, and so does the sender. */
const MESSAGES = { perSecond: 100, burst: 100 };
const BROKEN: readonly connectivityState[] = [
  connectivityState.TRANSIENT_FAILURE,
  connectivityState.SHUTDOWN,
];

/** A gRPC channel to addresses that are already resolved and checked. */
export class ScalerChannel implements PooledClient {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #sockets: ChannelSockets;

  constructor(
    { host, port, tls }: SourceServer,
    {
      addresses,
      clock,
      share,
    }: {
      readonly addresses: readonly string[];
      readonly clock: Clock;
      readonly share?: EventLoopShare | undefined;
    },
  ) {
    this.#sockets = new ChannelSockets({ clock, addressCount: addresses.length, share });
    this.#clock = clock;
    const kind = addresses.every((address) => isIP(address) === 6) ? 'ipv6' : 'ipv4';
    const targets = addresses
      .filter((address) => isIP(address) === (kind === 'ipv6' ? 6 : 4))
      .map((address) => (kind === 'ipv6' ? `[${address}]:${port}` : `${address}:${port}`));
    const options: ChannelOptions = {
      'grpc.max_receive_message_length': MAX_BYTES,
      'grpc.enable_http_proxy': 0,
      'grpc.enable_retries': 0,
      'grpc.service_config': SERVICE_CONFIG,
      'grpc.service_config_disable_resolution': 1,
      'grpc.use_local_subchannel_pool': 1,
      'grpc.enable_channelz': 0,
      'grpc.keepalive_time_ms': KEEPALIVE_MS,
      'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
      'grpc.default_authority': `${isIP(host) === 6 ? `[${host}]` : host}:${port}`,
      ...(tls && isIP(host) === 0 && { 'grpc.ssl_target_name_override': host }),
    };
    const secured = tls
      ? credentials.createFromSecureContext(
          createSecureContext({ ca: tls.ca, key: tls.key, cert: tls.cert, ciphers: CIPHERS_WITHOUT_DHE }),
          { rejectUnauthorized: !tls.isUnverified },
        )
      : credentials.createInsecure();
    const watched = new MeteredCredentials(secured, this.#sockets);
    this.#client = new Client(`${kind}:${targets.join(',')}`, watched, options);
  }

  get isBroken(): boolean {
    return (
      this.#sockets.flood !== undefined ||
      BROKEN.includes(this.#client.getChannel().getConnectivityState(false))
    );
  }

  /** Makes a unary call. @throws {ScalerFloodError}; the error of the server or connection; the signal's reason */
  async call<T>({ method, request, decode }: ScalerCall<T>, signal: AbortSignal): Promise<T> {
    using _frames = this.#sockets.allowCall();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const call = this.#client.makeUnaryRequest(
      buildPath(method),
      (bytes: Buffer) => bytes,
      (bytes) => decode(bytes),
      request,
      new Metadata(),
      (error, value) => {
        if (error === null && value !== undefined) resolve(value);
        else reject(toError(error));
      },
    );
    using _cancelled = onAbort(signal, () => call.cancel());
    try {
      return await promise;
    } catch (error) {
      throw signal.aborted ? signal.reason : (this.#sockets.flood ?? error);
    }
  }

  /** Yields the messages of a stream until the server ends it. @throws as {@link call} */
  async *stream<T>({ method, request, decode }: ScalerCall<T>, signal: AbortSignal): AsyncIterable<T> {
    const messages = new TokenBucket({ clock: this.#clock, ...MESSAGES });
    using _frames = this.#sockets.allowCall();
    const call: ClientReadableStream<T> = this.#client.makeServerStreamRequest(
      buildPath(method),
      (bytes: Buffer) => bytes,
      (bytes) => decode(bytes),
      request,
      new Metadata(),
    );
    using _cancelled = onAbort(signal, () => call.cancel());
    try {
      for await (const message of call) {
        await messages.take(signal);
        this.#sockets.allowMessage();
        yield message as T;
      }
    } catch (error) {
      throw signal.aborted ? signal.reason : (this.#sockets.flood ?? toError(error));
    } finally {
      call.cancel();
    }
  }

  destroy(): void {
    this.#client.close();
    this.#sockets.destroy();
  }
}

function buildPath(method: string): string {
  return `/externalscaler.ExternalScaler/${method}`;
}

/** Converts an error of gRPC, with the complete and unredacted text of the server. */
function toError(error: unknown): Error {
  const { details, message } = (error ?? {}) as Partial<ServiceError>;
  return new Error(details || message || 'no response');
}

interface ChannelSocketsOptions {
  readonly clock: Clock;
  /** Number of servers that the channel connects to. */
  readonly addressCount: number;
  readonly share?: EventLoopShare | undefined;
}

/** In frames. Headers cost more, since up to 128 fields are decoded. */
const COST = { frame: 1, headers: 16, connection: 32 } as const;
/** A response of 1 MiB has 64 data frames, two headers frames, and frames that estimate the bandwidth. */
const PER_CALL = 160;
const PER_MESSAGE = 8;
/** For keepalive and settings, without calls and messages. */
const PER_SECOND = 10;
const BURST = 2_000;

/** HEADERS, PUSH_PROMISE and CONTINUATION (RFC 9113, section 6). */
const HEADERS_TYPES: readonly number[] = [1, 5, 9];
const FRAME_HEAD_BYTES = 9;

/**
 * The connections of a channel. gRPC does not close a connection whose server accepts it and sends nothing, even when
 * the channel is closed, and it processes any number of frames, most of which are not subject to flow control. So the
 * server may send a number of frames per call, per message and per second; above that all connections are closed and no
 * new one is opened.
 */
class ChannelSockets {
  readonly #open = new Set<Duplex>();
  readonly #frames: TokenBucket;
  readonly #share: EventLoopShare | undefined;
  readonly #tenant = currentTenant();
  /** Additional frames of running calls: many streams that start at once are not a flood. */
  #allowance = 0;
  #callsUnderWay = 0;
  #flood: ScalerFloodError | undefined;

  constructor({ clock, addressCount, share }: ChannelSocketsOptions) {
    this.#share = share;
    const burst = BURST + 2 * COST.connection * addressCount;
    this.#frames = new TokenBucket({ clock, perSecond: PER_SECOND, burst });
  }

  /** Set when the connections were closed because of a flood of frames. */
  get flood(): ScalerFloodError | undefined {
    return this.#flood;
  }

  /** Prepares a socket by `connect`, such as by TLS, and meters it. @throws {ScalerFloodError} */
  async connect(
    socket: Socket,
    {
      isSecure,
      connect,
    }: { readonly isSecure: boolean; readonly connect: experimental.SecureConnector['connect'] },
  ): Promise<experimental.SecureConnectResult> {
    this.#add(socket);
    const progress = { isSecure: false };
    const stream = isSecure ? (this.#inTurns(socket, progress) as Duplex as Socket) : socket;
    const connected = await connect(stream);
    progress.isSecure = true;
    const meter = new FrameMeter();
    const metered = new SocketStream(connected.socket, (chunk, pass) => {
      if (this.#take(meter.measureCost(chunk))) pass();
    });
    return { ...connected, socket: metered as Duplex as Socket };
  }

  /** Allows the frames of one call until it is disposed of. */
  allowCall(): Disposable {
    this.#callsUnderWay++;
    this.#allow(PER_CALL);
    return {
      [Symbol.dispose]: () => {
        this.#callsUnderWay--;
        this.#allow(0);
      },
    };
  }

  /** Allows the frames of one message of a stream. */
  allowMessage(): void {
    this.#allow(PER_MESSAGE);
  }

  destroy(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** TLS processes data in the turn of the tenant: certificates take milliseconds. */
  #inTurns(socket: Socket, progress: { readonly isSecure: boolean }): SocketStream {
    return new SocketStream(socket, (_, pass) => {
      if (!progress.isSecure && socket.bytesRead > MAX_HANDSHAKE_BYTES) socket.destroy(longHandshake());
      else if (this.#share) this.#share.schedule(this.#tenant, pass);
      else pass();
    });
  }

  #add(socket: Socket): void {
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    this.#take(COST.connection);
    if (!this.#flood) return;
    socket.destroy();
    throw this.#flood;
  }

  /** Frames above the limit of the running calls are added to those of the connections. */
  #allow(frames: number): void {
    const maxAllowance = this.#callsUnderWay * PER_CALL;
    const excess = Math.max(0, this.#allowance + frames - maxAllowance);
    this.#allowance += frames - excess;
    this.#frames.add(excess);
  }

  /** @returns whether the frames may be processed */
  #take(cost: number): boolean {
    if (this.#flood) return false;
    const allowed = Math.min(cost, this.#allowance);
    if (this.#frames.tryTake(cost - allowed)) {
      this.#allowance -= allowed;
      return true;
    }
    this.#flood = new ScalerFloodError('the server sends more frames than its calls and messages need');
    this.destroy();
    return false;
  }
}

/** Credentials that register every connection of a channel with `sockets`. */
class MeteredCredentials extends ChannelCredentials {
  readonly #inner: ChannelCredentials;
  readonly #sockets: ChannelSockets;

  constructor(inner: ChannelCredentials, sockets: ChannelSockets) {
    super();
    this.#inner = inner;
    this.#sockets = sockets;
  }

  override _isSecure(): boolean {
    return this.#inner._isSecure();
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  override _createSecureConnector(
    ...channel: Parameters<ChannelCredentials['_createSecureConnector']>
  ): experimental.SecureConnector {
    const connector = this.#inner._createSecureConnector(...channel);
    return {
      connect: (socket) =>
        this.#sockets.connect(socket, {
          isSecure: this._isSecure(),
          connect: (one) => connector.connect(one),
        }),
      waitForReady: () => connector.waitForReady(),
      getCallCredentials: () => connector.getCallCredentials(),
      destroy: () => connector.destroy(),
    };
  }
}

/** Measures HTTP/2 frames. */
class FrameMeter {
  readonly #head = Buffer.alloc(FRAME_HEAD_BYTES);
  #headBytes = 0;
  /** Remaining payload of the current frame. */
  #leftBytes = 0;

  /** Returns the cost of all frames that start in a chunk. */
  measureCost(chunk: Buffer): number {
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
