import {
  isFresh,
  type KeptCertificateOptions,
  type KeyAndCertificate,
  keptOrMadeCertificate,
} from '#lib/apiserver/serving/self-signed-certificate.ts';
import { Listeners } from '#lib/concurrency/listeners.ts';

/** How often the time that is left is looked at, by the wall clock: it may be stepped. */
const CHECK_MS = 3_600_000;

/**
 * A self-signed certificate that is replaced while the server runs, long before it expires. Where another replica has
 * replaced the one in the directory already, that is taken.
 */
export class RenewedCertificate implements AsyncDisposable {
  readonly #options: KeptCertificateOptions;
  readonly #listeners: Listeners<KeyAndCertificate>;
  readonly #disposal = new AbortController();
  readonly #following: Promise<void>;
  #current: KeyAndCertificate;

  private constructor(options: KeptCertificateOptions, current: KeyAndCertificate) {
    this.#options = options;
    this.#listeners = new Listeners({ of: 'the self-signed certificate', ...options });
    this.#current = current;
    this.#following = this.#follow();
  }

  static async open(options: KeptCertificateOptions): Promise<RenewedCertificate> {
    return new RenewedCertificate(options, await keptOrMadeCertificate(options));
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
    await this.#following;
  }

  async #follow(): Promise<void> {
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
      this.#current = await keptOrMadeCertificate(this.#options);
      this.#listeners.tell(this.#current);
    } catch (error) {
      logger.error('Cannot renew the self-signed certificate', error);
    }
  }
}
