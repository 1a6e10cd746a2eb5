import { readFile } from 'node:fs/promises';
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

/** Credentials that an exec plugin or an auth provider makes. */
export type MadeCredentials = Partial<Pick<ClusterTls, 'cert' | 'key'>> &
  Pick<ClusterCredentials, 'authorization'>;

/** Makes credentials until the signal aborts, or returns the last ones where these are valid and were not refused. */
export type CredentialMaker = (signal: AbortSignal, areRefused: boolean) => Promise<MadeCredentials>;

/** Where credentials come from. */
export interface ClusterSource {
  /** The API server's base URL; may have a path. */
  readonly server: URL;
  /** An HTTP proxy on the way to it. */
  readonly proxy: URL | undefined;
  /**
   * Reads the credentials from their files or their plugin, until the signal aborts.
   *
   * @param areRefused whether the API server has refused the last ones: none that were kept will do
   */
  load(signal: AbortSignal, areRefused: boolean): Promise<ClusterCredentials>;
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
  #areRefused = false;
  /** When credentials were last read because the ones before were refused. */
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
      failing: 'Keeping the last credentials for the API server',
      recovered: 'Credentials for the API server can be read again',
    });
    this.#loadedAtMs = environment.clock.monotonicMs();
  }

  /** @throws what the source throws when it cannot be read at all */
  static async open(source: ClusterSource, environment: ClusterAccessEnvironment): Promise<ClusterAccess> {
    const bounds = { timeoutMs: FIRST_LOAD_TIMEOUT_MS, areRefused: false };
    return new ClusterAccess(source, await load(source, bounds, environment), environment);
  }

  /** As last read; the same object for as long as none of it changes. */
  get tls(): ClusterTls {
    return this.#credentials.tls;
  }

  /** The value of the Authorization header of a request that is made now; {@link tls} is brought up to date too. */
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
   * The API server does not know whose a request is that was made with these: they may have been revoked, or have expired a moment
   * ago. The next request has them read again, now; if the new ones are refused, too, no sooner than at any time.
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
  const expired = () => new Error(`credentials were not there within ${formatDuration(timeoutMs)}`);
  using deadline = startDeadline(clock, timeoutMs, signal ? { signal, expired } : { expired });
  return await source.load(deadline.signal, areRefused);
}

/**
 * Reads a token, a certificate, a key or authorities. An empty file is none of them but one that is being written: without a token
 * we would be anonymous, and without authorities trust all that the system does. Of authorities that are cut off in the middle TLS
 * would believe none, and say nothing.
 *
 * @throws when the file cannot be read, is empty or cut off, naming it
 */
export async function loadCredentialFile(path: string): Promise<string> {
  const text = await readFile(path, 'utf8');
  if (text.trim() === '') throw new Error(`the file ${path} is empty`);
  if (isCutOff(text)) throw new Error(`the file ${path} ends in the middle of a certificate or key`);
  return text;
}

/** Whether more PEM blocks begin than end. */
function isCutOff(text: string): boolean {
  const [begun, ended] = [/^-----B/gm, /^-----END [A-Z0-9 ]+-----/gm].map(
    (line) => text.match(line)?.length ?? 0,
  );
  return begun !== ended;
}
