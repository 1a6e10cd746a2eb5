import { isIP } from 'node:net';
import { LruMap } from '#lib/cache/lru-map.ts';
import { TokenBuckets } from '#lib/concurrency/token-buckets.ts';
import type { Clock } from '#lib/time/clock.ts';
import { findAllowedAddresses, type NetworkOptions } from '../network/allowed-hosts.ts';
import { ClientPool } from '../network/client-pool.ts';
import { digest } from '../query.ts';
import { Secrets } from '../secrets.ts';
import type { ScaledObjectRef, ScalerMetric } from './messages.ts';
import type { ScalerCall, ScalerChannel, ScalerServer } from './scaler-channel.ts';
import { ScalerFloodError } from './scaler-flood-error.ts';

/** What scalers are called with. */
export interface ExternalScalersOptions extends NetworkOptions {
  readonly clock: Clock;
}

/** A stream that ended well is opened again after this long. */
const REOPEN_MS = 2000;
/** One that failed, after as long, then twice as long each time. */
const MAX_REOPEN_MS = 60_000;
/** Of all streams of a namespace together: each message costs some ten microseconds, however little it says. */
const NAMESPACE_MESSAGES = { perSecond: 500, burst: 1000 };
/** So many servers that sent floods of frames are remembered. */
const MAX_FLOODED = 1_000;

/** A server that sent a flood of frames is not called for some time. */
interface Flooded {
  readonly error: ScalerFloodError;
  readonly waitMs: number;
  readonly untilMs: number;
}

/** Scalers that are called by gRPC, over connections that are kept and shared. */
export class ExternalScalers implements Disposable {
  readonly #options: ExternalScalersOptions;
  readonly #channels: ClientPool<ScalerChannel>;
  /** Of messages that streams push, by namespaces. */
  readonly #messages: TokenBuckets;
  /** By server, the one that sent its flood the longest ago first. */
  readonly #flooded = new LruMap<string, Flooded>({ max: MAX_FLOODED });

  constructor(options: ExternalScalersOptions) {
    this.#options = options;
    this.#channels = new ClientPool(options);
    this.#messages = new TokenBuckets({ clock: options.clock, ...NAMESPACE_MESSAGES });
  }

  /** What a scaler counts for an object. @throws an Error that names the server and the call, with the cause */
  async metrics(
    server: ScalerServer,
    object: ScaledObjectRef,
    signal: AbortSignal,
  ): Promise<readonly ScalerMetric[]> {
    const { decodeMetricSpecs, encodeObjectRef } = await import('./messages.ts');
    const request = encodeObjectRef(object);
    const call = { method: 'GetMetricSpec', request, decode: decodeMetricSpecs } as const;
    return await this.#call(server, { call, object }, signal);
  }

  /** The values of a metric. @throws as {@link metrics} */
  async values(
    server: ScalerServer,
    of: { readonly object: ScaledObjectRef; readonly metricName: string },
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    const { decodeMetricValues, encodeMetricsRequest } = await import('./messages.ts');
    const request = encodeMetricsRequest(of);
    const call = { method: 'GetMetrics', request, decode: decodeMetricValues } as const;
    return await this.#call(server, { call, object: of.object }, signal);
  }

  /** Whether there is something to do. @throws as {@link metrics} */
  async isActive(server: ScalerServer, object: ScaledObjectRef, signal: AbortSignal): Promise<boolean> {
    const { decodeIsActive, encodeObjectRef } = await import('./messages.ts');
    const request = encodeObjectRef(object);
    const call = { method: 'IsActive', request, decode: decodeIsActive } as const;
    return await this.#call(server, { call, object }, signal);
  }

  /** Calls back whenever a scaler tells that there is something to do; ends with the signal, and otherwise never. */
  async watchActivity(
    server: ScalerServer,
    { object, onActive }: { readonly object: ScaledObjectRef; readonly onActive: () => void },
    signal: AbortSignal,
  ): Promise<void> {
    const { clock } = this.#options;
    const { decodeIsActive, encodeObjectRef } = await import('./messages.ts');
    const request = encodeObjectRef(object);
    const call = { method: 'StreamIsActive', request, decode: decodeIsActive } as const;
    for (let waitMs = REOPEN_MS; !signal.aborted; ) {
      try {
        const receive = async (channel: ScalerChannel) => {
          for await (const isActive of channel.stream(call, signal)) {
            if (signal.aborted) return;
            waitMs = REOPEN_MS;
            if (isActive) onActive();
            await this.#messages.get(object.namespace).take(signal); // of who sends more, the rest waits
          }
        };
        await this.#use(server, receive, signal);
        waitMs = REOPEN_MS;
      } catch {
        // That the scaler cannot be called shows where it is asked for values.
        waitMs = Math.min(2 * waitMs, MAX_REOPEN_MS);
      }
      await clock.sleep(waitMs, { signal }).catch(() => {}); // the signal ends it
    }
  }

  [Symbol.dispose](): void {
    this.#channels[Symbol.dispose]();
  }

  async #call<T>(
    server: ScalerServer,
    { call, object }: { readonly call: ScalerCall<T>; readonly object: ScaledObjectRef },
    signal: AbortSignal,
  ): Promise<T> {
    try {
      return await this.#use(server, (channel) => channel.call(call, signal), signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const cause = new Secrets(object.secrets).redactError(error);
      throw new Error(`Cannot call ${call.method} of ${server.host}:${server.port}`, { cause });
    }
  }

  /** @throws {ScalerFloodError} while the server is not called for its flood of frames; what connecting or the work throws */
  async #use<T>(
    server: ScalerServer,
    work: (channel: ScalerChannel) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const name = `${server.host}:${server.port}`;
    const { error, untilMs = 0 } = this.#flooded.peek(name) ?? {};
    if (error && this.#options.clock.monotonicMs() < untilMs) throw error;
    try {
      const connect = (connecting: AbortSignal) => this.#connect(server, connecting);
      return await this.#channels.use(serverKey(server), { connect, work, signal });
    } catch (failure) {
      if (failure instanceof ScalerFloodError) this.#backOff(name, failure);
      throw failure;
    }
  }

  /** All calls of one channel fail by the same error, and count once. */
  #backOff(name: string, error: ScalerFloodError): void {
    const before = this.#flooded.peek(name);
    if (before?.error === error) return;
    const nowMs = this.#options.clock.monotonicMs();
    const isRepeated = before !== undefined && nowMs - before.untilMs < MAX_REOPEN_MS;
    const waitMs = isRepeated ? Math.min(2 * before.waitMs, MAX_REOPEN_MS) : REOPEN_MS;
    this.#flooded.set(name, { error, waitMs, untilMs: nowMs + waitMs });
  }

  /** gRPC looks names up itself, and dials what it finds; so it is given addresses. */
  async #connect(server: ScalerServer, signal: AbortSignal): Promise<ScalerChannel> {
    const addresses = await this.#findAddresses(server.host);
    signal.throwIfAborted();
    const { ScalerChannel } = await import('./scaler-channel.ts');
    return new ScalerChannel(server, { addresses, clock: this.#options.clock });
  }

  async #findAddresses(host: string): Promise<readonly string[]> {
    const { allowedHosts } = this.#options;
    if (isIP(host) === 0) return await findAllowedAddresses(host, this.#options);
    if (allowedHosts.allows(host, host)) return [host];
    throw allowedHosts.refusal(host, [host]);
  }
}

/** Tells servers, and how they are called, apart; holds no secret. */
export function serverKey({ host, port, tls }: ScalerServer): string {
  return JSON.stringify([host, port, digest(tls ?? null)]);
}
