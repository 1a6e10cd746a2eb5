import { isIP } from 'node:net';
import { TokenBuckets } from '#lib/concurrency/token-buckets.ts';
import type { Clock } from '#lib/time/clock.ts';
import { digestOf } from '../digest.ts';
import { findAllowedAddresses, type NetworkOptions } from '../http/allowed-lookup.ts';
import { KeptClients } from '../kept-clients.ts';
import { Secrets } from '../secrets.ts';
import {
  decodeIsActive,
  decodeMetricSpecs,
  decodeMetricValues,
  encodeMetricsRequest,
  encodeObjectRef,
  type ScaledObjectRef,
  type ScalerMetric,
} from './messages.ts';
import type { ScalerCall, ScalerChannel } from './scaler-channel.ts';
import type { ScalerServer } from './scaler-server.ts';

/** What scalers are called with. */
export interface ExternalScalersOptions extends NetworkOptions {
  readonly clock: Clock;
}

/** A stream that ended well is opened again after this long. */
const REOPEN_MS = 2000;
/** One that failed, after as long, then twice as long each time. */
const LONGEST_REOPEN_MS = 60_000;
/** Of one that tells more, the rest waits. */
const MOST_MESSAGES_A_SECOND = 100;
const SECOND_MS = 1000;
/** Of all streams of a namespace together: each message costs some ten microseconds, however little it says. */
const NAMESPACE_MESSAGES = { perSecond: 500, burst: 1000 };

/** Scalers that are called by gRPC, over connections that are kept and shared. */
export class ExternalScalers implements Disposable {
  readonly #options: ExternalScalersOptions;
  readonly #channels: KeptClients<ScalerChannel>;
  /** Of messages that streams push, by namespaces. */
  readonly #messages: TokenBuckets;

  constructor(options: ExternalScalersOptions) {
    this.#options = options;
    this.#channels = new KeptClients(options);
    this.#messages = new TokenBuckets({ clock: options.clock, ...NAMESPACE_MESSAGES });
  }

  /** What a scaler counts for an object. @throws an Error that names the server and the call, with the cause */
  async metrics(
    server: ScalerServer,
    object: ScaledObjectRef,
    signal: AbortSignal,
  ): Promise<readonly ScalerMetric[]> {
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
    const request = encodeMetricsRequest(of);
    const call = { method: 'GetMetrics', request, decode: decodeMetricValues } as const;
    return await this.#call(server, { call, object: of.object }, signal);
  }

  /** Whether there is something to do. @throws as {@link metrics} */
  async isActive(server: ScalerServer, object: ScaledObjectRef, signal: AbortSignal): Promise<boolean> {
    const request = encodeObjectRef(object);
    const call = { method: 'IsActive', request, decode: decodeIsActive } as const;
    return await this.#call(server, { call, object }, signal);
  }

  /** Calls back whenever a scaler tells that there is something to do; ends with the signal, and otherwise never. */
  async follow(
    server: ScalerServer,
    { object, onActive }: { readonly object: ScaledObjectRef; readonly onActive: () => void },
    signal: AbortSignal,
  ): Promise<void> {
    const { clock } = this.#options;
    const request = encodeObjectRef(object);
    const call = { method: 'StreamIsActive', request, decode: decodeIsActive } as const;
    for (let waitMs = REOPEN_MS; !signal.aborted; ) {
      try {
        await this.#channels.use(keyOf(server), {
          connect: (connecting) => this.#connect(server, connecting),
          work: async (channel) => {
            for await (const isActive of paced(channel.stream(call, signal), clock)) {
              if (signal.aborted) return;
              waitMs = REOPEN_MS;
              if (isActive) onActive();
              await this.#messages.of(object.namespace).take(signal); // of who sends more, the rest waits
            }
          },
          signal,
        });
        waitMs = REOPEN_MS;
      } catch {
        // That the scaler cannot be called shows where it is asked for values.
        waitMs = Math.min(2 * waitMs, LONGEST_REOPEN_MS);
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
      return await this.#channels.use(keyOf(server), {
        connect: (connecting) => this.#connect(server, connecting),
        work: (channel) => channel.call(call, signal),
        signal,
      });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const cause = new Secrets(object.secrets).tellError(error);
      throw new Error(`Cannot call ${call.method} of ${server.host}:${server.port}`, { cause });
    }
  }

  /** gRPC looks names up itself, and dials what it finds; so it is given addresses. */
  async #connect(server: ScalerServer, signal: AbortSignal): Promise<ScalerChannel> {
    const addresses = await this.#addressesOf(server.host);
    signal.throwIfAborted();
    const { ScalerChannel } = await import('./scaler-channel.ts');
    return new ScalerChannel(server, addresses);
  }

  async #addressesOf(host: string): Promise<readonly string[]> {
    const { allowedHosts } = this.#options;
    if (isIP(host) === 0) return await findAllowedAddresses(host, this.#options);
    if (allowedHosts.allows(host, host)) return [host];
    throw allowedHosts.refusal(host, [host]);
  }
}

/** Tells servers, and how they are called, apart; holds no secret. */
export function keyOf({ host, port, tls }: ScalerServer): string {
  return JSON.stringify([host, port, digestOf(tls ?? null)]);
}

/** Takes no more of a stream than some messages a second: its sender waits then. */
async function* paced<T>(messages: AsyncIterable<T>, clock: Clock): AsyncIterable<T> {
  let [count, sinceMs] = [0, clock.monotonicMs()];
  for await (const message of messages) {
    yield message;
    count++;
    const leftMs = sinceMs + SECOND_MS - clock.monotonicMs();
    if (leftMs > 0 && count < MOST_MESSAGES_A_SECOND) continue;
    if (leftMs > 0) await clock.sleep(leftMs);
    [count, sinceMs] = [0, clock.monotonicMs()];
  }
}
