import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { FailureLog } from '#lib/telemetry/failure-log.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';

/** TLS settings for the API server, and for kubelets that trust the same authorities. */
export interface ClusterTls {
  /** PEM; `undefined` to trust the system's authorities. */
  readonly ca: string | undefined;
  /** PEM of a client certificate and its key. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** The name to verify instead of the dialed one. */
  readonly servername: string | undefined;
  readonly rejectUnauthorized: boolean;
}

/** Credentials at one moment. */
export interface ClusterCredentials {
  readonly tls: ClusterTls;
  /** The value of the Authorization header. */
  readonly authorization: string | undefined;
}

/** Credentials from an exec plugin or an auth provider. */
export type MadeCredentials = Partial<Pick<ClusterTls, 'cert' | 'key'>> &
  Pick<ClusterCredentials, 'authorization'>;

/**
 * Makes credentials until the signal aborts, or returns the last ones while these are valid and have not been refused.
 */
export type CredentialMaker = (signal: AbortSignal, areRefused: boolean) => Promise<MadeCredentials>;

/** A source of credentials. */
export interface ClusterSource {
  /** The API server's base URL; may have a path. */
  readonly server: URL;
  /** An HTTP proxy in front of it. */
  readonly proxy: URL | undefined;
  /**
   * Reads the credentials from their files or plugin, until the signal aborts.
   *
   * @param areRefused whether the API server has refused the last ones, so that cached ones cannot be used
   */
  load(signal: AbortSignal, areRefused: boolean): Promise<ClusterCredentials>;
}

/** Credentials are read at most this often. */
const REFRESH_INTERVAL_MS = 10_000;

/** An exec plugin may prompt the user first. */
const FIRST_LOAD_TIMEOUT_MS = 60_000;
/** Requests wait for it. */
const RELOAD_TIMEOUT_MS = 10_000;

export interface ClusterAccessEnvironment {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborts when the program ends: no credentials are read afterwards. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Access to an API server.
 *
 * Tokens and certificates rotate under a running program, so they are read again as they are used. If that fails, the
 * last valid ones remain in use.
 */
export class ClusterAccess {
  readonly server: URL;
  readonly proxy: URL | undefined;
  readonly #source: ClusterSource;
  readonly #environment: ClusterAccessEnvironment;
  #credentials: ClusterCredentials;
  #loadedAtMs: number;
  #loading: Promise<void> | undefined;
  #areRefused = false;
  /** When refused credentials were last replaced. */
  #replacedAtMs = Number.NEGATIVE_INFINITY;
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
      failing: 'Cannot read credentials for the API server; keeping the previous ones',
      recovered: 'Reads of credentials for the API server succeed again',
    });
    this.#loadedAtMs = environment.clock.monotonicMs();
  }

  /** @throws what the source throws when it cannot be read at all */
  static async open(source: ClusterSource, environment: ClusterAccessEnvironment): Promise<ClusterAccess> {
    const bounds = { timeoutMs: FIRST_LOAD_TIMEOUT_MS, areRefused: false };
    return new ClusterAccess(source, await load(source, bounds, environment), environment);
  }

  /** As last read; the same object until one of them changes. */
  get tls(): ClusterTls {
    return this.#credentials.tls;
  }

  /** The value of the Authorization header for a request now; {@link tls} is updated, too. */
  async authorization(): Promise<string | undefined> {
    if (this.#isDue() && !this.#environment.signal?.aborted) {
      this.#loading ??= this.#reload().finally(() => {
        this.#loading = undefined;
      });
      await this.#loading;
    }
    return this.#credentials.authorization;
  }

  /**
   * Records that the API server responded 401 to a request with these credentials: they may have been revoked, or have
   * just expired. The next request reads them again at once; if the new ones are refused, too, the usual interval
   * applies.
   *
   * @param authorization the value of the request's Authorization header
   */
  refuse(authorization: string | undefined): void {
    if (authorization === this.#credentials.authorization) this.#areRefused = true;
  }

  #isDue(): boolean {
    const nowMs = this.#environment.clock.monotonicMs();
    const sinceMs = this.#areRefused ? this.#replacedAtMs : this.#loadedAtMs;
    return nowMs - sinceMs >= REFRESH_INTERVAL_MS;
  }

  async #reload(): Promise<void> {
    const { clock, signal } = this.#environment;
    const areRefused = this.#areRefused;
    this.#areRefused = false;
    if (areRefused) this.#replacedAtMs = clock.monotonicMs();
    try {
      const bounds = { timeoutMs: RELOAD_TIMEOUT_MS, areRefused };
      const { tls, authorization } = await load(this.#source, bounds, this.#environment);
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
  { timeoutMs, areRefused }: { readonly timeoutMs: number; readonly areRefused: boolean },
  { clock, signal }: ClusterAccessEnvironment,
): Promise<ClusterCredentials> {
  const expired = () => new Error(`no credentials within ${formatDuration(timeoutMs)}`);
  using deadline = startDeadline(clock, timeoutMs, signal ? { signal, expired } : { expired });
  return await source.load(deadline.signal, areRefused);
}

/**
 * Reads a token, a certificate, a key or authorities. An empty or truncated file is one that is being written: without
 * a token the client would be anonymous, and without authorities it would trust the system's. TLS silently ignores
 * truncated authorities.
 *
 * @throws with the path when the file cannot be read, is empty or truncated
 */
export async function loadCredentialFile(path: string): Promise<string> {
  const text = await readFile(path, 'utf8');
  if (text.trim() === '') throw new Error(`file ${path} is empty`);
  if (isCutOff(text)) throw new Error(`file ${path} is truncated: it ends within a certificate or key`);
  return text;
}

/** Whether more PEM blocks begin than end. */
function isCutOff(text: string): boolean {
  const [begun, ended] = [/^-----B/gm, /^-----END [A-Z0-9 ]+-----/gm].map(
    (line) => text.match(line)?.length ?? 0,
  );
  return begun !== ended;
}
