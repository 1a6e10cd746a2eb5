import { X509Certificate } from 'node:crypto';
import { Listeners } from '#lib/concurrency/listeners.ts';
import { ReloadingFiles } from '#lib/kubernetes/access/reloading-files.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import {
  isFresh,
  type KeyAndCertificate,
  loadOrMakeCertificate,
  requireMatchingPair,
  type StoredCertificateOptions,
} from './self-signed-certificate.ts';

/** The serving certificates; they may change while the server runs. */
export interface ServingCertificates {
  /** For clients that request no server name, or one that matches no other certificate. */
  readonly current: KeyAndCertificate;
  readonly named: readonly NamedCertificate[];
  /** Calls a listener after every change. */
  onChange(listener: () => void): void;
}

/** A certificate for some server names (SNI). */
interface NamedCertificate {
  /** The first label may be a wildcard: `*.example.com`. */
  readonly names: readonly string[];
  readonly pair: KeyAndCertificate;
}

/** Files of a certificate and the names to use it for; empty for the certificate's own names. */
export interface NamedCertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
  readonly names: readonly string[];
}

export interface ServingCertificatesOptions {
  /** Both, or none for a self-signed one. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** Directory of the self-signed certificate. */
  readonly certDir: string;
  /** The first that matches is used. */
  readonly namedCertificates: readonly NamedCertificateFiles[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Reads the serving certificates and watches their files, or makes a self-signed one and renews it.
 *
 * @throws when given files cannot be read or do not match
 */
export async function openServingCertificates(
  options: ServingCertificatesOptions,
): Promise<ServingCertificates & AsyncDisposable> {
  const { certFile, keyFile, namedCertificates, clock, logger } = options;
  await using opening = new AsyncDisposableStack();
  const watch = async (paths: readonly [string, string], what: string) =>
    opening.use(
      await ReloadingFiles.open({
        paths,
        what,
        read: ([cert = '', key = '']) => requireMatchingPair(cert, key),
        clock,
        logger,
      }),
    );
  const files =
    certFile !== undefined && keyFile !== undefined
      ? await watch([certFile, keyFile], 'the serving certificate')
      : opening.use(await RenewedCertificate.open(options));
  const named: { readonly names: readonly string[]; readonly files: ReloadingFiles<KeyAndCertificate> }[] =
    [];
  for (const { names, ...paths } of namedCertificates) {
    const files = await watch([paths.certFile, paths.keyFile], 'a serving certificate for certain names');
    named.push({ names, files });
  }
  const opened = opening.move();
  return {
    get current() {
      return files.current;
    },
    get named() {
      return named.map(({ names, files: { current } }) => ({
        names: names.length > 0 ? names : namesIn(current),
        pair: current,
      }));
    },
    onChange(listener) {
      files.onChange(listener);
      for (const one of named) one.files.onChange(listener);
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** The DNS names of a certificate. */
function namesIn({ cert }: KeyAndCertificate): readonly string[] {
  const { subjectAltName = '' } = new X509Certificate(cert);
  return [...subjectAltName.matchAll(/(?:^|, )DNS:([^,"]+)/g)].map(([, name = '']) => name);
}

/** How often the remaining time is checked, by the wall clock, which may be stepped. */
const CHECK_MS = 3_600_000;

/**
 * A self-signed certificate that is replaced while the server runs, long before it expires. If another replica has
 * replaced the stored one already, that is used.
 */
class RenewedCertificate implements AsyncDisposable {
  readonly #options: StoredCertificateOptions;
  readonly #listeners: Listeners<KeyAndCertificate>;
  readonly #disposal = new AbortController();
  readonly #watching: Promise<void>;
  #current: KeyAndCertificate;

  private constructor(options: StoredCertificateOptions, current: KeyAndCertificate) {
    this.#options = options;
    this.#listeners = new Listeners({ event: 'the self-signed certificate', ...options });
    this.#current = current;
    this.#watching = this.#watch();
  }

  static async open(options: StoredCertificateOptions): Promise<RenewedCertificate> {
    return new RenewedCertificate(options, await loadOrMakeCertificate(options));
  }

  get current(): KeyAndCertificate {
    return this.#current;
  }

  /** Calls a listener after every renewal. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal.abort();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#disposal;
    while (!signal.aborted) {
      await clock.sleep(CHECK_MS, { signal }).then(
        () => this.#renew(),
        () => {}, // disposed
      );
    }
  }

  async #renew(): Promise<void> {
    const { clock, logger } = this.#options;
    if (isFresh(this.#current, clock.nowMs())) return;
    try {
      this.#current = await loadOrMakeCertificate(this.#options);
      this.#listeners.notify(this.#current);
    } catch (error) {
      logger.error('Cannot renew the self-signed certificate', error);
    }
  }
}
