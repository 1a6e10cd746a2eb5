import net from 'node:net';
import tls from 'node:tls';
import type { Semaphore } from '#lib/concurrency/semaphore.ts';
import type { NameResolver } from '#lib/dns/name-resolver.ts';
import type { ScrapeTarget } from '#lib/resource-metrics/nodes/node-address.ts';
import { onAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { formatDuration } from '#lib/time/duration.ts';
import { startTimerAfterIo } from '#lib/time/pausable-timeout.ts';

/** What a TLS connection to a kubelet is made with; asked for again at every dial, for files rotate. */
export interface KubeletTls {
  /** PEM, all of them; `undefined` trusts the system's authorities. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** By default `true`. */
  readonly rejectUnauthorized?: boolean;
}

/** Whom to dial. */
type DialTarget = Pick<ScrapeTarget, 'host' | 'port' | 'knownAs'>;

/** How long dialling may take, beside its own bounds. */
export interface DialDeadline {
  readonly signal: AbortSignal;
  /** Called when a handshake waits for its permit; the result is disposed of when it has it. */
  readonly pause?: (() => Disposable) | undefined;
}

/** What a dialer needs from outside. */
interface DialerOptions {
  readonly clock: Clock;
  readonly resolver: NameResolver;
  /** Bounds how many handshakes are under way at once. */
  readonly handshakes: Semaphore;
  /** `undefined` for plain text. */
  readonly tls: (() => KubeletTls) | undefined;
  /** Bounds resolving the name, and again connecting together with the handshake. */
  readonly dialTimeoutMs: number;
}

/**
 * Opens connections to kubelets.
 *
 * Handshakes cost our own CPU, so a bounded number is under way at once, and time spent waiting for a permit is
 * not held against the kubelet.
 */
export class Dialer {
  readonly #options: DialerOptions;
  readonly #pace: HandshakePace;
  #context: { readonly madeOf: KubeletTls; readonly secureContext: tls.SecureContext } | undefined;

  constructor(options: DialerOptions) {
    this.#options = options;
    this.#pace = new HandshakePace(options.dialTimeoutMs);
  }

  /** What the next connection is made with; the same object until it changes, and `undefined` for plain text. */
  get credentials(): KubeletTls | undefined {
    return this.#options.tls?.();
  }

  /**
   * @throws the signal's reason when it aborts; else with the cause in words
   */
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
      using _permit = this.#shortened(await this.#permit({ signal, pause }));
      if (socket.destroyed) throw socket.errored ?? closed('before the TLS handshake');
      const permittedAtMs = clock.monotonicMs();
      const secured = this.#secure(socket, target, credentials);
      await this.#within(Math.max(leftMs, 1), 'TLS handshake', {
        socket: secured,
        event: 'secureConnect',
        signal,
      });
      this.#pace.note(clock.monotonicMs() - permittedAtMs);
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

  /** Reading authorities and keys takes longer than a handshake: once for all dials until they change. */
  #secureContext(credentials: KubeletTls): tls.SecureContext {
    if (this.#context?.madeOf !== credentials) {
      const { ca, cert, key } = credentials;
      this.#context = { madeOf: credentials, secureContext: tls.createSecureContext({ ca, cert, key }) };
    }
    return this.#context.secureContext;
  }

  /** A permit is given back after a while: our own work is long done, and what is left is the kubelet's silence. */
  #shortened(permit: Disposable): Disposable {
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
    what: string,
    { socket, event, signal }: Opening<'connect' | 'secureConnect'>,
  ): Promise<void> {
    const expired = () => new Error(`no ${what} within ${formatDuration(this.#options.dialTimeoutMs)}`);
    using _deadline = startTimerAfterIo(this.#options.clock, durationMs, () => socket.destroy(expired()));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onClose = () => reject(closed(`during the ${what}`));
    socket.on('error', ignore); // stays: an error of a kept socket must never go unheard
    socket.once(event, resolve).once('error', reject).once('close', onClose);
    using _aborted = onAbort(signal, () => socket.destroy(signal.reason));
    try {
      await promise;
    } finally {
      socket.off(event, resolve).off('error', reject).off('close', onClose);
    }
  }
}

/** A socket on its way, and what it says when it has arrived. */
interface Opening<Event> {
  readonly socket: net.Socket;
  readonly event: Event;
  readonly signal: AbortSignal;
}

function closed(when: string): Error {
  return new Error(`the kubelet closed the connection ${when}`);
}

function ignore(): void {}

/** Many times what a handshake takes where neither side is busy. */
const SHORTEST_MS = 250;

/** A handshake that takes so many times as long as others do now is slow by itself. */
const TIMES_THE_USUAL = 4;

/** How many of the latest are looked at. */
const LOOKED_AT = 16;

/**
 * Tells from the latest handshakes how long the next may keep its permit.
 *
 * One that takes long is the kubelet's affair only while others are quick. Where all take long, this process or the way to
 * the kubelets is busy, and letting more begin would make all of them slower yet. The quickest quarter counts, so that a
 * minority of slow kubelets cannot hold up the rest.
 */
export class HandshakePace {
  readonly #longestMs: number;
  /** The latest durations, oldest first. */
  readonly #durationsMs: number[] = [];

  /** @param longestMs what a handshake may take at all */
  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** How long a handshake may keep its permit. */
  get permitMs(): number {
    const quickest = this.#durationsMs.toSorted((one, other) => one - other);
    const usualMs = quickest[Math.floor((LOOKED_AT - 1) / 4)] ?? 0;
    return Math.min(Math.max(TIMES_THE_USUAL * usualMs, SHORTEST_MS), this.#longestMs);
  }

  /** Notes how long a handshake took that was completed. */
  note(durationMs: number): void {
    this.#durationsMs.push(durationMs);
    if (this.#durationsMs.length > LOOKED_AT) this.#durationsMs.shift();
  }
}

/** The code of a {@link KubeletIdentityError}, beside those that Node has for certificates. */
export const CERT_OF_ANOTHER_NAME = 'CERT_OF_ANOTHER_NAME';

/**
 * Whether a certificate, whose chain is good, is that of the kubelet that was dialled: it names the host, or else the
 * node or another of its addresses, for kubelets are dialled by address and their certificates often name only the
 * node.
 *
 * @returns why it is not, with the names that it has and what to do
 */
export function kubeletIdentityError(
  certificate: tls.PeerCertificate,
  { host, knownAs = [] }: Pick<ScrapeTarget, 'host' | 'knownAs'>,
): Error | undefined {
  const names = [host, ...knownAs.filter((name) => name !== host)];
  if (names.some((name) => tls.checkServerIdentity(name, certificate) === undefined)) return undefined;
  return new KubeletIdentityError(
    `its certificate is not for ${names.join(', ')}: it is for ${namesOf(certificate)}; give the kubelet a ` +
      'certificate that names its node (serverTLSBootstrap: true in its configuration), or ask it by a name that ' +
      'the certificate has (--kubelet-preferred-address-types)',
  );
}

/** A good certificate, but of somebody else. */
class KubeletIdentityError extends Error {
  readonly code = CERT_OF_ANOTHER_NAME;
}

/** A certificate of 100 kB has thousands of names. */
const MAX_NAMES_SHOWN = 10;

function namesOf({ subject, subjectaltname }: tls.PeerCertificate): string {
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
  return names.length > 0 ? names.join(', ') : 'nobody';
}
