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

interface KubeletClientOptions {
  readonly clock: Clock;
  readonly dialer: Pick<Dialer, 'dial' | 'credentials'>;
  /** Returns the Authorization header; called for every request, since tokens rotate. */
  readonly authorization: () => Promise<string | undefined>;
  /** Limits connection and response, but not the waits for credentials, a handshake permit or memory. */
  readonly requestTimeoutMs: number;
  /** Longer responses are rejected. */
  readonly maxResponseBytes: number;
}

/** Sends requests to kubelets, over one keep-alive connection each. */
export class KubeletClient {
  readonly #options: KubeletClientOptions;
  readonly #connections = new Map<string, PooledConnection>();
  /** Lowered when file descriptors run out, since API clients and files need some, too. */
  #maxConnections = Number.POSITIVE_INFINITY;
  readonly #memory: ResponseMemory;

  constructor(options: KubeletClientOptions) {
    this.#options = options;
    this.#memory = new ResponseMemory(options.clock);
  }

  /**
   * Requests one path of one kubelet.
   *
   * A pooled connection that the kubelet closed during the request is replaced once. One that was opened with another
   * client certificate is not reused, since the kubelet would still authenticate the old one.
   *
   * @returns the result of `read`
   * @throws what `read` throws; {KubeletStatusError} for a status other than 200; otherwise an Error that describes
   * the cause
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
      const [own, caller] = [deadline.pause(), pauseCaller?.()];
      return {
        [Symbol.dispose]: () => {
          own[Symbol.dispose]();
          caller?.[Symbol.dispose]();
        },
      };
    };
    return await this.#request(target, { path, read, signal: deadline.signal, pause });
  }

  async #request<Read>(
    target: ScrapeTarget,
    unauthorized: Omit<KubeletRequest<Read>, 'authorization'>,
  ): Promise<Read> {
    const address = formatAddress(target);
    const { signal, pause } = unauthorized;
    const request = { ...unauthorized, authorization: await this.#authorization(unauthorized) };
    const certificate = this.#options.dialer.credentials?.cert;
    const pooled = this.#connections.get(address);
    if (pooled && pooled.certificate !== certificate) pooled.connection.close();
    else if (pooled) {
      try {
        return await pooled.connection.get(request);
      } catch (error) {
        if (error instanceof KubeletStatusError || signal.aborted || !wasClosed(error)) throw error;
      }
    }
    const connection = this.#pool(address, await this.#dial(target, { signal, pause }), certificate);
    try {
      return await connection.get(request);
    } finally {
      const isPooled = this.#connections.get(address)?.connection === connection;
      if (!isPooled || this.#connections.size > this.#maxConnections) connection.close();
    }
  }

  /** Pauses the timeout: a slow or failing credential source must not look like a slow kubelet. */
  async #authorization({ signal, pause }: DialDeadline): Promise<string | undefined> {
    using _paused = pause?.();
    return await raceAbort(this.#options.authorization(), signal);
  }

  async #dial(target: ScrapeTarget, deadline: DialDeadline): Promise<net.Socket> {
    try {
      return await this.#options.dialer.dial(target, deadline);
    } catch (error) {
      if (codeOf(error) === 'EMFILE') this.#maxConnections = Math.floor(this.#connections.size / 2);
      throw error;
    }
  }

  /** Closes connections to addresses (`host:port`) that are not in the set. */
  async retain(addresses: ReadonlySet<string>): Promise<void> {
    for (const [address, { connection }] of this.#connections) {
      if (!addresses.has(address)) connection.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.retain(new Set());
  }

  #pool(address: string, socket: net.Socket, certificate: string | undefined): KubeletConnection {
    const { clock, maxResponseBytes } = this.#options;
    const connection = new KubeletConnection(socket, {
      clock,
      host: address,
      maxResponseBytes,
      memory: this.#memory,
    });
    const pooled = { connection, certificate };
    this.#connections.set(address, pooled);
    socket.once('close', () => {
      if (this.#connections.get(address) === pooled) this.#connections.delete(address);
    });
    return connection;
  }
}

interface PooledConnection {
  readonly connection: KubeletConnection;
  /**
   * PEM of the client certificate, or of its predecessor if it changed during the handshake; `undefined` without one.
   */
  readonly certificate: string | undefined;
}

function wasClosed(error: unknown): boolean {
  const code = codeOf(error);
  return error instanceof ConnectionClosed || code === 'ECONNRESET' || code === 'EPIPE';
}

/** From the `--kubelet-…` flags. */
export interface KubeletConnectionOptions extends KubeletTrust {
  readonly dialTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** Longer responses are rejected. */
  readonly maxResponseBytes: number;
  /** Whether to use plain HTTP without credentials. */
  readonly completelyInsecure: boolean;
}

type CreatedKubeletClient = Pick<KubeletClient, 'get' | 'retain'> & AsyncDisposable;

/** More would make kubelets look slow and block other work: each uses 1 to 2 ms of local CPU in one block. */
const MAX_CONCURRENT_HANDSHAKES = 16;

interface KubeletConnectionEnvironment {
  readonly access: ClusterAccess;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** @throws naming flags and files that cannot be used */
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
  const handshakes = new Semaphore(MAX_CONCURRENT_HANDSHAKES);
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
    logger.warning('Kubelets are scraped over plain HTTP: responses can be read and modified in transit', {
      flag: '--deprecated-kubelet-completely-insecure',
    });
  } else if (options.insecureTls) {
    logger.warning(
      'Kubelet TLS verification is disabled: credentials can be intercepted, and responses forged',
      {
        flag: '--kubelet-insecure-tls',
      },
    );
  }
}
