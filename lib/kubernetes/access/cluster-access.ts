import { isDeepStrictEqual } from 'node:util';
import { FailureLog } from '#lib/telemetry/failure-log.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';

/** What TLS connections to the API server, and to kubelets that trust the same authorities, are made with. */
export interface ClusterTls {
  /** PEM; `undefined` trusts the system's authorities. */
  readonly ca: string | undefined;
  /** PEM of a client certificate and its key. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** The name to verify instead of the dialled one. */
  readonly servername: string | undefined;
  readonly rejectUnauthorized: boolean;
}

/** Everything that proves who speaks, as of one moment. */
export interface ClusterCredentials {
  readonly tls: ClusterTls;
  /** The value of the Authorization header. */
  readonly authorization: string | undefined;
}

/** Where credentials come from. */
export interface ClusterSource {
  /** The API server's base URL; may have a path. */
  readonly server: URL;
  /** An HTTP proxy on the way to it. */
  readonly proxy: URL | undefined;
  /** Reads the credentials from their files or their plugin, until the signal aborts. */
  load(signal: AbortSignal): Promise<ClusterCredentials>;
}

/** Credentials are read again at most this often. */
const REFRESH_INTERVAL_MS = 10_000;

/** A plugin may want to hear of its user first. */
const FIRST_LOAD_TIMEOUT_MS = 60_000;
/** Requests wait for it. */
const RELOAD_TIMEOUT_MS = 10_000;

/** What access to an API server needs from outside. */
export interface ClusterAccessEnvironment {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborts when the program ends: no credentials are read any more. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * How to reach the API server.
 *
 * Tokens and certificates rotate under a running program, so they are read again as they are used. When that
 * fails, the last good ones go on being used.
 */
export class ClusterAccess {
  readonly server: URL;
  readonly proxy: URL | undefined;
  readonly #source: ClusterSource;
  readonly #environment: ClusterAccessEnvironment;
  #credentials: ClusterCredentials;
  #loadedAtMs: number;
  #loading: Promise<void> | undefined;
  readonly #failures: FailureLog;

  private constructor(
    source: ClusterSource,
    credentials: ClusterCredentials,
    environment: ClusterAccessEnvironment,
  ) {
    this.server = source.server;
    this.proxy = source.proxy;
    this.#source = source;
    this.#credentials = credentials;
    this.#environment = environment;
    this.#failures = new FailureLog({
      logger: environment.logger,
      failing: 'Keeping the last credentials for the API server',
      recovered: 'Credentials for the API server can be read again',
    });
    this.#loadedAtMs = environment.clock.monotonicMs();
  }

  /** @throws what the source throws when it cannot be read at all */
  static async open(source: ClusterSource, environment: ClusterAccessEnvironment): Promise<ClusterAccess> {
    return new ClusterAccess(source, await load(source, FIRST_LOAD_TIMEOUT_MS, environment), environment);
  }

  /** As last read; the same object for as long as none of it changes. */
  get tls(): ClusterTls {
    return this.#credentials.tls;
  }

  /** The value of the Authorization header of a request that is made now; {@link tls} is brought up to date too. */
  async authorization(): Promise<string | undefined> {
    const { clock, signal } = this.#environment;
    if (clock.monotonicMs() - this.#loadedAtMs >= REFRESH_INTERVAL_MS && !signal?.aborted) {
      this.#loading ??= this.#reload().finally(() => {
        this.#loading = undefined;
      });
      await this.#loading;
    }
    return this.#credentials.authorization;
  }

  async #reload(): Promise<void> {
    const { clock, signal } = this.#environment;
    try {
      const { tls, authorization } = await load(this.#source, RELOAD_TIMEOUT_MS, this.#environment);
      const isSame = isDeepStrictEqual(tls, this.#credentials.tls);
      this.#credentials = { tls: isSame ? this.#credentials.tls : tls, authorization };
      this.#failures.succeed();
    } catch (error) {
      if (signal?.aborted) return;
      this.#failures.fail(error);
    }
    this.#loadedAtMs = clock.monotonicMs();
  }
}

async function load(
  source: ClusterSource,
  timeoutMs: number,
  { clock, signal }: ClusterAccessEnvironment,
): Promise<ClusterCredentials> {
  const expired = () => new Error(`credentials were not there within ${formatDuration(timeoutMs)}`);
  using deadline = startDeadline(clock, timeoutMs, signal ? { signal, expired } : { expired });
  return await source.load(deadline.signal);
}
