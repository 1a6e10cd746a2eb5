import { constants } from 'node:crypto';
import {
  createSecureContext,
  type SecureContext,
  type SecureContextOptions,
  type SecureVersion,
} from 'node:tls';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { KeyAndCertificate } from './self-signed-certificate.ts';
import type { ServingCertificates } from './serving-certificates.ts';

/** Which TLS is spoken. */
export interface TlsSettings {
  readonly minVersion: SecureVersion;
  /** Of TLS 1.2, by Go's names; none for Node's own choice. Those of TLS 1.3 are not chosen among, as in Go. */
  readonly cipherSuites: readonly string[];
  /** Of the key exchange, by Go's numbers; none for Node's own choice. Their order says nothing, as in Go. */
  readonly curves: readonly string[];
}

/** Versions by the names that Kubernetes' flags call them. */
export const TLS_VERSIONS = {
  VersionTLS10: 'TLSv1',
  VersionTLS11: 'TLSv1.1',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
} as const satisfies Readonly<Record<string, SecureVersion>>;

/** OpenSSL's names of the cipher suites of TLS 1.2 and earlier, by those of Go, which are IANA's but for two. */
const CIPHER_SUITES: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
};

/** All of them are always spoken where TLS 1.3 is. */
const TLS13_SUITES = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

/** Every name that a cipher suite can be chosen by. */
export const CIPHER_SUITE_NAMES: readonly string[] = [...TLS13_SUITES, ...Object.keys(CIPHER_SUITES)];

/** Go's numbers of the curves that it has, which are IANA's, and OpenSSL's names; the best first. */
const CURVES: readonly (readonly [number: string, name: string])[] = [
  ['4588', 'X25519MLKEM768'],
  ['4587', 'SecP256r1MLKEM768'],
  ['4589', 'SecP384r1MLKEM1024'],
  ['29', 'X25519'],
  ['23', 'P-256'],
  ['24', 'P-384'],
  ['25', 'P-521'],
];

/** Every number that a curve can be chosen by. */
export const CURVE_NUMBERS: readonly string[] = CURVES.map(([number]) => number).sort();

/** The options of a Node TLS context for these settings. */
function tlsContextOptions({ minVersion, cipherSuites, curves }: TlsSettings): {
  readonly minVersion: SecureVersion;
  readonly ciphers?: string;
  readonly ecdhCurve?: string;
} {
  const chosen = cipherSuites.flatMap((name) => getOwn(CIPHER_SUITES, name) ?? []);
  const groups = CURVES.flatMap(([number, name]) => (curves.includes(number) ? name : []));
  return {
    minVersion,
    ...(cipherSuites.length > 0 && { ciphers: [...TLS13_SUITES, ...chosen].join(':') }),
    ...(curves.length > 0 && { ecdhCurve: groups.join(':') }),
  };
}

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
