import net from 'node:net';
import tls from 'node:tls';
import type { ScrapeTarget } from '#lib/resource-metrics/nodes/node-address.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';
import { kubeletIdentityFault } from './kubelet-identity.ts';
import type { NameResolver } from './name-resolver.ts';
import { NarrowStream } from './narrow-stream.ts';
import type { TurnGate } from './turn-gate.ts';

/** What a TLS connection to a kubelet is made with; asked for anew at every dial, for files rotate. */
export interface KubeletTls {
  /** PEM, all of them; `undefined` trusts the system's authorities. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** By default `true`. */
  readonly rejectUnauthorized?: boolean;
}

/** Whom to dial. */
export type DialTarget = Pick<ScrapeTarget, 'host' | 'port' | 'knownAs'>;

/** What a dialer needs from outside. */
export interface DialerOptions {
  readonly clock: Clock;
  readonly resolver: NameResolver;
  readonly gate: TurnGate;
  /** `undefined` for plain text. */
  readonly tls: (() => KubeletTls) | undefined;
  /** Bounds resolving the name, and again connecting together with the handshake. */
  readonly dialTimeoutMs: number;
}

/** Many times what a handshake takes of our own CPU: it is the other side that is slow. */
const LONGEST_TURN_MS = 250;

/**
 * Opens connections to kubelets.
 *
 * Handshakes cost our own CPU, so a bounded number is under way at once, and time spent waiting for a turn is
 * not held against the kubelet.
 */
export class Dialer {
  readonly #options: DialerOptions;
  #context: { readonly madeOf: KubeletTls; readonly secureContext: tls.SecureContext } | undefined;

  constructor(options: DialerOptions) {
    this.#options = options;
  }

  /** What the next connection is made with; the same object until it changes, and `undefined` for plain text. */
  get credentials(): KubeletTls | undefined {
    return this.#options.tls?.();
  }

  /** @throws with the cause in words; the signal's reason when it aborts first */
  async dial(target: DialTarget, signal: AbortSignal): Promise<net.Socket> {
    const { host, port } = target;
    const address = await this.#options.resolver.resolve(host, signal);
    const { clock, dialTimeoutMs } = this.#options;
    const startedAtMs = clock.monotonicMs();
    const socket = net.connect({ host: address, port, noDelay: true });
    try {
      await this.#within(dialTimeoutMs, 'connection', socket, signal, 'connect');
      const { credentials } = this;
      if (!credentials) return socket;
      const leftMs = dialTimeoutMs - (clock.monotonicMs() - startedAtMs);
      using _turn = this.#shortened(await this.#options.gate.enter(signal));
      const servername = net.isIP(host) === 0 ? { servername: host } : {};
      const secured = tls.connect({
        secureContext: this.#secureContext(credentials),
        rejectUnauthorized: credentials.rejectUnauthorized ?? true,
        checkServerIdentity: (_, certificate) => kubeletIdentityFault(certificate, target),
        ...servername,
        socket: new NarrowStream(socket),
        host,
        ALPNProtocols: ['http/1.1'],
      });
      await this.#within(Math.max(leftMs, 1), 'TLS handshake', secured, signal, 'secureConnect');
      return secured;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  /** Reading authorities and keys takes longer than a handshake: once for all dials until they change. */
  #secureContext(credentials: KubeletTls): tls.SecureContext {
    if (this.#context?.madeOf !== credentials) {
      const { ca, cert, key } = credentials;
      this.#context = { madeOf: credentials, secureContext: tls.createSecureContext({ ca, cert, key }) };
    }
    return this.#context.secureContext;
  }

  /** A turn is over after a while: our own work is long done, and what is left is the kubelet's silence. */
  #shortened(turn: Disposable): Disposable {
    const timer = new AbortController();
    this.#options.clock.sleep(LONGEST_TURN_MS, { signal: timer.signal }).then(
      () => turn[Symbol.dispose](),
      () => {}, // the handshake ended first
    );
    return {
      [Symbol.dispose]: () => {
        timer.abort();
        turn[Symbol.dispose]();
      },
    };
  }

  async #within(
    durationMs: number,
    what: string,
    socket: net.Socket,
    signal: AbortSignal,
    event: 'connect' | 'secureConnect',
  ): Promise<void> {
    const expired = () => new Error(`no ${what} within ${formatDuration(this.#options.dialTimeoutMs)}`);
    using deadline = startDeadline(this.#options.clock, durationMs, { signal, expired });
    await new Promise<void>((resolve, reject) => {
      const abort = () => socket.destroy(deadline.signal.reason);
      const finish = (error?: Error) => {
        deadline.signal.removeEventListener('abort', abort);
        socket.off('close', closed);
        if (error) reject(error);
        else resolve();
      };
      const closed = () => finish(new Error(`the kubelet closed the connection during the ${what}`));
      socket.once(event, () => finish());
      socket.on('error', finish); // stays: an error of a pooled socket must never go unheard
      socket.once('close', closed);
      if (deadline.signal.aborted) abort();
      else deadline.signal.addEventListener('abort', abort, { once: true });
    });
  }
}
