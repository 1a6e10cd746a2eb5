import { isIP } from 'node:net';
import {
  type ChannelOptions,
  Client,
  type ClientReadableStream,
  connectivityState,
  credentials,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { TokenBucket } from '#lib/concurrency/token-bucket.ts';
import { onAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { KeptClient } from '../network/client-pool.ts';
import { ChannelSockets } from './channel-sockets.ts';
import type { ScalerServer } from './scaler-server.ts';

/** One call: what is sent, and how what comes is read. */
export interface ScalerCall<T> {
  readonly method: 'IsActive' | 'StreamIsActive' | 'GetMetricSpec' | 'GetMetrics';
  readonly request: Buffer;
  readonly decode: (bytes: Uint8Array) => T;
}

/** A longer message is an error. */
const MAX_BYTES = 1024 * 1024;
/** Quicker pings are taken for an attack by servers that are set up as they come. */
const KEEPALIVE_MS = 301_000;
const KEEPALIVE_TIMEOUT_MS = 20_000;
const SERVICE_CONFIG = JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] });
/** Of one stream; the rest waits, and so does its sender. */
const MESSAGES = { perSecond: 100, burst: 100 };
const BROKEN: readonly connectivityState[] = [
  connectivityState.TRANSIENT_FAILURE,
  connectivityState.SHUTDOWN,
];

/** A channel of gRPC to addresses that were looked up, and judged, before. */
export class ScalerChannel implements KeptClient {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #sockets: ChannelSockets;

  constructor(
    { host, port, tls }: ScalerServer,
    { addresses, clock }: { readonly addresses: readonly string[]; readonly clock: Clock },
  ) {
    this.#sockets = new ChannelSockets({ clock, addressCount: addresses.length });
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
    const pem = (text: string | undefined) => (text === undefined ? null : Buffer.from(text));
    const secured = tls
      ? credentials.createSsl(pem(tls.ca), pem(tls.key), pem(tls.cert), {
          rejectUnauthorized: !tls.isUnverified,
        })
      : credentials.createInsecure();
    this.#client = new Client(`${kind}:${targets.join(',')}`, this.#sockets.watch(secured), options);
  }

  get isBroken(): boolean {
    return (
      this.#sockets.flood !== undefined ||
      BROKEN.includes(this.#client.getChannel().getConnectivityState(false))
    );
  }

  /** Calls once. @throws {ScalerFlood}; what the server or the connection says of it, or the signal's reason */
  async call<T>({ method, request, decode }: ScalerCall<T>, signal: AbortSignal): Promise<T> {
    this.#sockets.allowCall();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const call = this.#client.makeUnaryRequest(
      pathOf(method),
      (bytes: Buffer) => bytes,
      (bytes) => decode(bytes),
      request,
      new Metadata(),
      (error, value) => {
        if (error === null && value !== undefined) resolve(value);
        else reject(reasonOf(error));
      },
    );
    using _cancelled = onAbort(signal, () => call.cancel());
    try {
      return await promise;
    } catch (error) {
      throw signal.aborted ? signal.reason : (this.#sockets.flood ?? error);
    }
  }

  /** What the server tells of itself, for as long as it goes on. @throws what ends it but the server's own end */
  async *stream<T>({ method, request, decode }: ScalerCall<T>, signal: AbortSignal): AsyncIterable<T> {
    const messages = new TokenBucket({ clock: this.#clock, ...MESSAGES });
    this.#sockets.allowCall();
    const call: ClientReadableStream<T> = this.#client.makeServerStreamRequest(
      pathOf(method),
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
      throw signal.aborted ? signal.reason : (this.#sockets.flood ?? reasonOf(error));
    } finally {
      call.cancel();
    }
  }

  destroy(): void {
    this.#client.close();
    this.#sockets.destroy();
  }
}

function pathOf(method: string): string {
  return `/externalscaler.ExternalScaler/${method}`;
}

/** All that the server wrote: who knows its secrets cuts it. */
function reasonOf(error: unknown): Error {
  const { details, message } = (error ?? {}) as Partial<ServiceError>;
  return new Error(details || message || 'no response');
}
