import { isIP } from 'node:net';
import { LruMap } from '#lib/cache/lru-map.ts';
import { runForTenant } from '#lib/concurrency/tenant.ts';
import { TokenBuckets } from '#lib/concurrency/token-buckets.ts';
import type { Clock } from '#lib/time/clock.ts';
import { findAllowedAddresses, type NetworkOptions } from '../network/allowed-hosts.ts';
import { ClientPool } from '../network/client-pool.ts';
import type { SourceServer } from '../network/tls.ts';
import { digest } from '../query.ts';
import { Secrets } from '../secrets.ts';
import type { ScaledObjectRef, ScalerMetric } from './messages.ts';
import type { ScalerCall, ScalerChannel } from './scaler-channel.ts';
import { ScalerFloodError } from './scaler-flood-error.ts';

interface ExternalScalersOptions extends NetworkOptions {
  readonly clock: Clock;
}

/** Delay before a stream is opened again. */
const REOPEN_MS = 2000;
/** The delay doubles with each failure up to this limit. */
const MAX_REOPEN_MS = 60_000;
/** For all streams of a namespace: each message takes about ten microseconds, however short. */
const NAMESPACE_MESSAGES = { perSecond: 500, burst: 1000 };
const MAX_FLOODED = 1_000;

/** A server that sent a flood of frames and is not called until `untilMs`. */
interface Flooded {
  readonly error: ScalerFloodError;
  readonly waitMs: number;
  readonly untilMs: number;
}

/** Calls external scalers by gRPC over pooled connections. */
export class ExternalScalers implements Disposable {
  readonly #options: ExternalScalersOptions;
  readonly #channels: ClientPool<ScalerChannel>;
  /** Limits the pushed messages per namespace. */
  readonly #messages: TokenBuckets;
  /** By server, the one that sent its flood the longest ago first. */
  readonly #flooded = new LruMap<string, Flooded>({ max: MAX_FLOODED });

  constructor(options: ExternalScalersOptions) {
    this.#options = options;
    this.#channels = new ClientPool(options);
    this.#messages = new TokenBuckets({ clock: options.clock, ...NAMESPACE_MESSAGES });
  }

  /** Returns the metrics of an object. @throws an Error that names the server and the method, with the cause */
  async metrics(
    server: SourceServer,
    object: ScaledObjectRef,
    signal: AbortSignal,
  ): Promise<readonly ScalerMetric[]> {
    const { decodeMetricSpecs: decode, encodeObjectRef } = await import('./messages.ts');
    const call = { method: 'GetMetricSpec', request: encodeObjectRef(object), decode } as const;
    return await this.#call(server, { call, object }, signal);
  }

  /** Returns the values of a metric. @throws as {@link metrics} */
  async values(
    server: SourceServer,
    of: { readonly object: ScaledObjectRef; readonly metricName: string },
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    const { decodeMetricValues: decode, encodeMetricsRequest } = await import('./messages.ts');
    const call = { method: 'GetMetrics', request: encodeMetricsRequest(of), decode } as const;
    return await this.#call(server, { call, object: of.object }, signal);
  }

  /** Returns whether an object is active. @throws as {@link metrics} */
  async isActive(server: SourceServer, object: ScaledObjectRef, signal: AbortSignal): Promise<boolean> {
    const { decodeIsActive: decode, encodeObjectRef } = await import('./messages.ts');
    const call = { method: 'IsActive', request: encodeObjectRef(object), decode } as const;
    return await this.#call(server, { call, object }, signal);
  }

  /** Calls `onActive` whenever the scaler pushes that an object is active. Resolves only when the signal aborts. */
  async watchActivity(
    server: SourceServer,
    { object, onActive }: { readonly object: ScaledObjectRef; readonly onActive: () => void },
    signal: AbortSignal,
  ): Promise<void> {
    const { clock } = this.#options;
    const { decodeIsActive: decode, encodeObjectRef } = await import('./messages.ts');
    const call = { method: 'StreamIsActive', request: encodeObjectRef(object), decode } as const;
    for (let waitMs = REOPEN_MS; !signal.aborted; ) {
      try {
        const receive = async (channel: ScalerChannel) => {
          for await (const isActive of channel.stream(call, signal)) {
            if (signal.aborted) return;
            waitMs = REOPEN_MS;
            if (isActive) onActive();
            await this.#messages.get(object.namespace).take(signal); // further messages wait
          }
        };
        await this.#use(server, receive, signal);
        waitMs = REOPEN_MS;
      } catch {
        // The failure is reported by the queries for values.
        waitMs = Math.min(2 * waitMs, MAX_REOPEN_MS);
      }
      await clock.sleep(waitMs, { signal }).catch(() => {}); // the signal ends it
    }
  }

  [Symbol.dispose](): void {
    this.#channels[Symbol.dispose]();
  }

  async #call<T>(
    server: SourceServer,
    { call, object }: { readonly call: ScalerCall<T>; readonly object: ScaledObjectRef },
    signal: AbortSignal,
  ): Promise<T> {
    try {
      // A call takes a millisecond, and the metrics of a namespace may cause thousands of calls a second.
      await runForTenant(object.namespace, () => this.#options.share?.next(signal));
      return await this.#use(server, (channel) => channel.call(call, signal), signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const cause = new Secrets(object.secrets).redactError(error);
      throw new Error(`Cannot call ${call.method} of ${server.host}:${server.port}`, { cause });
    }
  }

  /** @throws {ScalerFloodError} while the server is not called; the error of connecting or of the work */
  async #use<T>(
    server: SourceServer,
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

  /** All calls of one channel fail with the same error, which counts once. */
  #backOff(name: string, error: ScalerFloodError): void {
    const before = this.#flooded.peek(name);
    if (before?.error === error) return;
    const nowMs = this.#options.clock.monotonicMs();
    const isRepeated = before !== undefined && nowMs - before.untilMs < MAX_REOPEN_MS;
    const waitMs = isRepeated ? Math.min(2 * before.waitMs, MAX_REOPEN_MS) : REOPEN_MS;
    this.#flooded.set(name, { error, waitMs, untilMs: nowMs + waitMs });
  }

  /** Passes addresses to gRPC, which would resolve names itself and connect to any address. */
  async #connect(server: SourceServer, signal: AbortSignal): Promise<ScalerChannel> {
    const addresses = await this.#findAddresses(server.host);
    signal.throwIfAborted();
    const { ScalerChannel } = await import('./scaler-channel.ts');
    const { clock, share } = this.#options;
    if (server.tls?.ca !== undefined) await share?.next(signal); // a bundle takes some 20 ms to parse
    return new ScalerChannel(server, { addresses, clock, share });
  }

  async #findAddresses(host: string): Promise<readonly string[]> {
    const { allowedHosts } = this.#options;
    if (isIP(host) === 0) return await findAllowedAddresses(host, this.#options);
    if (allowedHosts.allows(host, host)) return [host];
    throw allowedHosts.refusal(host, [host]);
  }
}

/** Identifies a server and its TLS options; contains no secret. */
export function serverKey({ host, port, tls }: SourceServer): string {
  return JSON.stringify([host, port, digest(tls ?? null)]);
}
