import { constants } from 'node:crypto';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import type { KeyAndCertificate } from '#lib/apiserver/serving/self-signed-certificate.ts';
import type { ServingCertificates } from '#lib/apiserver/serving/serving-certificates.ts';
import { type TlsSettings, tlsContextOptions } from './tls-settings.ts';

/**
 * Sessions are not resumed: one that is brings the client's certificate back without those that lead from it to an
 * authority. And no certificate is exchanged for another in the middle of a connection.
 */
const SECURE_OPTIONS = constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION;

/** What a server's handshakes are made with, by the name that a client asks for. */
export class SecureContexts {
  readonly #certificates: ServingCertificates;
  readonly #settings: TlsSettings;
  #named: readonly { readonly names: readonly string[]; readonly context: SecureContext }[] = [];

  constructor(certificates: ServingCertificates, settings: TlsSettings) {
    this.#certificates = certificates;
    this.#settings = settings;
    this.refresh();
  }

  /** The options of the context for clients that ask for no name with one of its own. */
  get options(): SecureContextOptions {
    return this.#optionsFor(this.#certificates.current);
  }

  /** Takes up the certificates as they are now. */
  refresh(): void {
    this.#named = this.#certificates.named.map(({ names, pair }) => ({
      names: names.map((name) => name.toLowerCase()),
      context: createSecureContext(this.#optionsFor(pair)),
    }));
  }

  /** The context for a name; the exact name goes before a star. */
  find(servername: string): SecureContext | undefined {
    const name = servername.toLowerCase();
    const pattern = name.replace(/^[^.]*/, '*');
    return [name, pattern]
      .map((wanted) => this.#named.find(({ names }) => names.includes(wanted))?.context)
      .find((context) => context !== undefined);
  }

  #optionsFor({ cert, key }: KeyAndCertificate): SecureContextOptions {
    return { cert, key, ...tlsContextOptions(this.#settings), secureOptions: SECURE_OPTIONS };
  }
}
