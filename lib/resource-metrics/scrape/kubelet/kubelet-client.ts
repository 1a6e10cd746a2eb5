import type net from 'node:net';
import { Semaphore } from '#lib/concurrency/semaphore.ts';
import { NameResolver } from '#lib/dns/name-resolver.ts';
import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import { formatAddress, type ScrapeTarget } from '#lib/resource-metrics/nodes/node-address.ts';
import { codeOf } from '#lib/telemetry/error-text.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { formatDuration } from '#lib/time/duration.ts';
import { PausableTimeout } from '#lib/time/pausable-timeout.ts';
import { type DialDeadline, Dialer } from './dialer.ts';
import { KubeletConnection, type KubeletRequest } from './kubelet-connection.ts';
import { type KubeletTrust, openKubeletCredentials } from './kubelet-credentials.ts';
import { ConnectionClosed, KubeletStatusError } from './kubelet-error.ts';
import { ResponseMemory } from './response-memory.ts';

/** What a kubelet client needs from outside. */
interface KubeletClientOptions {
  readonly clock: Clock;
  readonly dialer: Pick<Dialer, 'dial' | 'credentials'>;
  /** The value of the Authorization header; asked for at every request, for tokens rotate. */
  readonly authorization: () => Promise<string | undefined>;
  /** Bounds a request: dialling, where there is no connection, and the response; not the wait for credentials, a handshake's permit, or memory. */
  readonly requestTimeoutMs: number;
  /** A longer response is refused. */
  readonly maxResponseBytes: number;
}

/** Asks kubelets, over one kept-alive connection each. */
export class KubeletClient {
  readonly #options: KubeletClientOptions;
  readonly #connections = new Map<string, KeptConnection>();
  /** Fewer than all once file descriptors have run out: those who ask us need some, too, and so do files. */
  #mostKept = Number.POSITIVE_INFINITY;
  readonly #memory: ResponseMemory;

  constructor(options: KubeletClientOptions) {
    this.#options = options;
    this.#memory = new ResponseMemory(options.clock);
  }

  /**
   * Asks one kubelet for one path.
   *
   * A kept connection that the kubelet closed while the request was on its way is replaced, once; one that was made
   * with another client certificate than is current is not used, for the kubelet goes on taking us for who we were.
   *
   * @returns what was read of the response
   * @throws what `read` throws; {KubeletStatusError} for every status but 200; an Error with the cause in words for the rest
   */
  async get<Read>(
    target: ScrapeTarget,
    path: string,
    { signal, read, pause: pauseCaller }: Omit<KubeletRequest<Read>, 'path' | 'authorization'>,
  ): Promise<Read> {
    const { clock, requestTimeoutMs } = this.#options;
    const expired = () => new Error(`no complete response within ${formatDuration(requestTimeoutMs)}`);
    using deadline = new PausableTimeout({ clock, durationMs: requestTimeoutMs, signal, expired });
    const pause = () => {
      const [own, callers] = [deadline.pause(), pauseCaller?.()];
      return {
        [Symbol.dispose]: () => {
          own[Symbol.dispose]();
          callers?.[Symbol.dispose]();
        },
      };
    };
    return await this.#ask(target, { path, read, signal: deadline.signal, pause });
  }

  async #ask<Read>(target: ScrapeTarget, asked: Omit<KubeletRequest<Read>, 'authorization'>): Promise<Read> {
    const address = formatAddress(target);
    const { signal, pause } = asked;
    const request = { ...asked, authorization: await this.#authorization(asked) };
    const certificate = this.#options.dialer.credentials?.cert;
    const kept = this.#connections.get(address);
    if (kept && kept.certificate !== certificate) kept.connection.close();
    else if (kept) {
      try {
        return await kept.connection.get(request);
      } catch (error) {
        if (error instanceof KubeletStatusError || signal.aborted || !wasClosed(error)) throw error;
      }
    }
    const connection = this.#keep(address, await this.#dial(target, { signal, pause }), certificate);
    try {
      return await connection.get(request);
    } finally {
      const isKept = this.#connections.get(address)?.connection === connection;
      if (!isKept || this.#connections.size > this.#mostKept) connection.close();
    }
  }

  /** Who makes credentials may take its time, or fail, and then the last ones are used: no kubelet is to look slow for it. */
  async #authorization({ signal, pause }: DialDeadline): Promise<string | undefined> {
    using _paused = pause?.();
    return await raceAbort(this.#options.authorization(), signal);
  }

  async #dial(target: ScrapeTarget, deadline: DialDeadline): Promise<net.Socket> {
    try {
      return await this.#options.dialer.dial(target, deadline);
    } catch (error) {
      if (codeOf(error) === 'EMFILE') this.#mostKept = Math.floor(this.#connections.size / 2);
      throw error;
    }
  }

  /** Closes the connections to every address (`host:port`) but these. */
  async retain(addresses: ReadonlySet<string>): Promise<void> {
    for (const [address, { connection }] of this.#connections) {
      if (!addresses.has(address)) connection.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.retain(new Set());
  }

  #keep(address: string, socket: net.Socket, certificate: string | undefined): KubeletConnection {
    const { maxResponseBytes } = this.#options;
    const connection = new KubeletConnection(socket, {
      host: address,
      maxResponseBytes,
      memory: this.#memory,
    });
    const kept = { connection, certificate };
    this.#connections.set(address, kept);
    socket.once('close', () => {
      if (this.#connections.get(address) === kept) this.#connections.delete(address);
    });
    return connection;
  }
}

interface KeptConnection {
  readonly connection: KubeletConnection;
  /** PEM of what it was made with, or of the one before, where that changed meanwhile; `undefined` without one. */
  readonly certificate: string | undefined;
}

function wasClosed(error: unknown): boolean {
  const code = codeOf(error);
  return error instanceof ConnectionClosed || code === 'ECONNRESET' || code === 'EPIPE';
}

/** How kubelets are asked, as the flags say. */
export interface KubeletConnectionOptions extends KubeletTrust {
  readonly dialTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** A longer response is refused. */
  readonly maxResponseBytes: number;
  /** Whether to ask in plain text, without credentials. */
  readonly completelyInsecure: boolean;
}

/** Asks kubelets. */
type CreatedKubeletClient = Pick<KubeletClient, 'get' | 'retain'> & AsyncDisposable;

/** More at once would make kubelets look slow and hold up everybody else: each costs 1 to 2 ms of our own CPU, in one piece. */
const HANDSHAKES_AT_ONCE = 16;

/** What asking kubelets needs from outside. */
interface KubeletConnectionEnvironment {
  readonly access: ClusterAccess;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Puts together what asks kubelets.
 *
 * @throws naming the flags and files that cannot be used
 */
export async function createKubeletClient(
  options: KubeletConnectionOptions,
  { access, clock, logger }: KubeletConnectionEnvironment,
): Promise<CreatedKubeletClient> {
  await using creating = new AsyncDisposableStack();
  const { completelyInsecure, dialTimeoutMs, requestTimeoutMs, maxResponseBytes } = options;
  const resolver = NameResolver.ofSystem({ clock, timeoutMs: dialTimeoutMs });
  warnOfInsecurity(options, logger);
  const credentials = completelyInsecure
    ? undefined
    : creating.use(await openKubeletCredentials(options, { access, clock, logger }));
  const handshakes = new Semaphore(HANDSHAKES_AT_ONCE);
  const dialer = new Dialer({
    clock,
    resolver,
    handshakes,
    tls: credentials && (() => credentials.tls()),
    dialTimeoutMs,
  });
  const client = new KubeletClient({
    clock,
    dialer,
    authorization: async () => (completelyInsecure ? undefined : await access.authorization()),
    requestTimeoutMs,
    maxResponseBytes,
  });
  creating.use(client);
  const created = creating.move();
  return {
    get: (target, path, request) => client.get(target, path, request),
    retain: (addresses) => client.retain(addresses),
    [Symbol.asyncDispose]: () => created.disposeAsync(),
  };
}

function warnOfInsecurity(options: KubeletConnectionOptions, logger: Logger): void {
  if (options.completelyInsecure) {
    logger.warning('KUBELETS ARE ASKED IN PLAIN TEXT: anybody on the way can read and change what they say', {
      flag: '--deprecated-kubelet-completely-insecure',
    });
  } else if (options.insecureTls) {
    logger.warning(
      'KUBELETS ARE NOT VERIFIED: anyone who responds at their addresses is sent our credentials, and believed',
      { flag: '--kubelet-insecure-tls' },
    );
  }
}
