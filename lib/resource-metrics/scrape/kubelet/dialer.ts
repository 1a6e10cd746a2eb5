import net from 'node:net';
import tls from 'node:tls';
import type { Semaphore } from '#lib/concurrency/semaphore.ts';
import type { NameResolver } from '#lib/dns/name-resolver.ts';
import type { ScrapeTarget } from '#lib/resource-metrics/nodes/node-address.ts';
import { onAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { formatDuration } from '#lib/time/duration.ts';
import { startTimerAfterIo } from '#lib/time/pausable-timeout.ts';

/** TLS options of connections to kubelets; requested for every connection, since files rotate. */
export interface KubeletTls {
  /** PEM; without `ca`, the system's authorities are trusted. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Defaults to `true`. */
  readonly rejectUnauthorized?: boolean;
}

type DialTarget = Pick<ScrapeTarget, 'host' | 'port' | 'alternativeNames'>;

/** Limits in addition to the dialer's timeouts. */
export interface DialDeadline {
  readonly signal: AbortSignal;
  /** Called when a handshake waits for its permit; the result is disposed when it gets one. */
  readonly pause?: (() => Disposable) | undefined;
}

interface DialerOptions {
  readonly clock: Clock;
  readonly resolver: NameResolver;
  /** Limits concurrent handshakes. */
  readonly handshakes: Semaphore;
  /** `undefined` for plain HTTP. */
  readonly tls: (() => KubeletTls) | undefined;
  /** Limits the resolution of the name, and separately connection and handshake together. */
  readonly dialTimeoutMs: number;
}

/**
 * Opens connections to kubelets.
 *
 * Handshakes use local CPU, so their concurrency is limited. The time in which a handshake waits for its permit does
 * not count against the kubelet's timeout.
 */
export class Dialer {
  readonly #options: DialerOptions;
  readonly #pace: HandshakePace;
  #context: { readonly source: KubeletTls; readonly secureContext: tls.SecureContext } | undefined;

  constructor(options: DialerOptions) {
    this.#options = options;
    this.#pace = new HandshakePace(options.dialTimeoutMs);
  }

  /** TLS options of the next connection; the same object until they change, and `undefined` for plain HTTP. */
  get credentials(): KubeletTls | undefined {
    return this.#options.tls?.();
  }

  /** @throws the signal's reason if it aborts; otherwise an error that describes the cause */
  async dial(target: DialTarget, { signal, pause }: DialDeadline): Promise<net.Socket> {
    const { clock, dialTimeoutMs, resolver } = this.#options;
    const address = await resolver.resolve(target.host, signal);
    const startedAtMs = clock.monotonicMs();
    const socket = net.connect({ host: address, port: target.port, noDelay: true });
    try {
      await this.#within(dialTimeoutMs, 'connection', { socket, event: 'connect', signal });
      const { credentials } = this;
      if (!credentials) return socket;
      const leftMs = dialTimeoutMs - (clock.monotonicMs() - startedAtMs);
      using _permit = this.#limitPermit(await this.#permit({ signal, pause }));
      if (socket.destroyed) throw socket.errored ?? closed('before the TLS handshake');
      const permittedAtMs = clock.monotonicMs();
      const secured = this.#secure(socket, target, credentials);
      await this.#within(Math.max(leftMs, 1), 'TLS handshake', {
        socket: secured,
        event: 'secureConnect',
        signal,
      });
      this.#pace.record(clock.monotonicMs() - permittedAtMs);
      return secured;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  async #permit({ signal, pause }: DialDeadline): Promise<Disposable> {
    using _paused = pause?.();
    return await this.#options.handshakes.acquire(signal);
  }

  #secure(socket: net.Socket, target: DialTarget, credentials: KubeletTls): tls.TLSSocket {
    const { host } = target;
    return tls.connect({
      secureContext: this.#secureContext(credentials),
      rejectUnauthorized: credentials.rejectUnauthorized ?? true,
      checkServerIdentity: (_, certificate) => kubeletIdentityError(certificate, target),
      ...(net.isIP(host) === 0 ? { servername: host } : {}),
      socket,
      host,
      ALPNProtocols: ['http/1.1'],
    });
  }

  /** Creating a context takes longer than a handshake, so it is cached until its source changes. */
  #secureContext(credentials: KubeletTls): tls.SecureContext {
    if (this.#context?.source !== credentials) {
      const { ca, cert, key } = credentials;
      this.#context = { source: credentials, secureContext: tls.createSecureContext({ ca, cert, key }) };
    }
    return this.#context.secureContext;
  }

  /** Releases a permit after a time: local work is done by then, and the kubelet is silent. */
  #limitPermit(permit: Disposable): Disposable {
    const timer = this.#options.clock.startTimer(this.#pace.permitMs, () => permit[Symbol.dispose]());
    return {
      [Symbol.dispose]: () => {
        timer[Symbol.dispose]();
        permit[Symbol.dispose]();
      },
    };
  }

  async #within(
    durationMs: number,
    step: string,
    { socket, event, signal }: Opening<'connect' | 'secureConnect'>,
  ): Promise<void> {
    const expired = () => new Error(`no ${step} within ${formatDuration(this.#options.dialTimeoutMs)}`);
    using _deadline = startTimerAfterIo(this.#options.clock, durationMs, () => socket.destroy(expired()));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onClose = () => reject(closed(`during the ${step}`));
    socket.on('error', ignore); // remains: an unhandled error event would end the process
    socket.once(event, resolve).once('error', reject).once('close', onClose);
    using _aborted = onAbort(signal, () => socket.destroy(signal.reason));
    try {
      await promise;
    } finally {
      socket.off(event, resolve).off('error', reject).off('close', onClose);
    }
  }
}

/** A socket that is being opened, and the event that ends this step. */
interface Opening<Event> {
  readonly socket: net.Socket;
  readonly event: Event;
  readonly signal: AbortSignal;
}

function closed(when: string): Error {
  return new Error(`the kubelet closed the connection ${when}`);
}

function ignore(): void {}

/** Many times the duration of a handshake when neither side is busy. */
const MIN_PERMIT_MS = 250;

/** A handshake is slow if it takes this many times the usual duration. */
const SLOW_FACTOR = 4;

const MAX_DURATIONS = 16;

/**
 * Computes from the last handshakes how long the next one may retain its permit.
 *
 * A slow handshake is due to its kubelet only while others are fast. If all are slow, this process or the network is
 * busy, and starting more would slow down all of them. The fastest quarter counts, so a minority of slow kubelets
 * does not delay others.
 */
export class HandshakePace {
  readonly #maxPermitMs: number;
  /** The last durations, oldest first. */
  readonly #durationsMs: number[] = [];

  /** @param maxPermitMs timeout of a handshake */
  constructor(maxPermitMs: number) {
    this.#maxPermitMs = maxPermitMs;
  }

  /** How long a handshake may retain its permit. */
  get permitMs(): number {
    const fastest = this.#durationsMs.toSorted((one, other) => one - other);
    const usualMs = fastest[Math.floor((MAX_DURATIONS - 1) / 4)] ?? 0;
    return Math.min(Math.max(SLOW_FACTOR * usualMs, MIN_PERMIT_MS), this.#maxPermitMs);
  }

  /** Records the duration of a completed handshake. */
  record(durationMs: number): void {
    this.#durationsMs.push(durationMs);
    if (this.#durationsMs.length > MAX_DURATIONS) this.#durationsMs.shift();
  }
}

/** The code of {@link KubeletIdentityError}, in addition to Node's codes. */
export const CERT_OF_ANOTHER_NAME = 'CERT_OF_ANOTHER_NAME';

/**
 * Checks that a verified certificate is the kubelet's: it must name the host, the node or another of the node's
 * addresses, since kubelets are dialed by address, but their certificates often name only the node.
 *
 * @returns the error, with the names in the certificate and a remedy; `undefined` if a name matches
 */
export function kubeletIdentityError(
  certificate: tls.PeerCertificate,
  { host, alternativeNames = [] }: Pick<ScrapeTarget, 'host' | 'alternativeNames'>,
): Error | undefined {
  const names = [host, ...alternativeNames.filter((name) => name !== host)];
  if (names.some((name) => tls.checkServerIdentity(name, certificate) === undefined)) return undefined;
  return new KubeletIdentityError(
    `its certificate is valid for ${formatNames(certificate)}, not for ${names.join(', ')}; issue the kubelet a certificate that ` +
      'names its node (serverTLSBootstrap: true in its configuration), or connect to a name in the certificate ' +
      '(--kubelet-preferred-address-types)',
  );
}

/** A verified certificate of another server. */
class KubeletIdentityError extends Error {
  readonly code = CERT_OF_ANOTHER_NAME;
}

/** A certificate of 100 kB has thousands of names. */
const MAX_NAMES_SHOWN = 10;

function formatNames({ subject, subjectaltname }: tls.PeerCertificate): string {
  if (subjectaltname) {
    const shown = subjectaltname.split(', ', MAX_NAMES_SHOWN + 1);
    const more = shown.length > MAX_NAMES_SHOWN ? ', …' : '';
    return (
      shown
        .slice(0, MAX_NAMES_SHOWN)
        .join(', ')
        .replaceAll(/(DNS|IP Address):/g, '') + more
    );
  }
  const names = [subject?.CN].flat().filter((name) => name !== undefined);
  return names.length > 0 ? names.join(', ') : 'no name';
}
