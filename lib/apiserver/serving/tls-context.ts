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

/** TLS version, cipher suites and curves. */
export interface TlsSettings {
  readonly minVersion: SecureVersion;
  /** Of TLS 1.2, by Go's names; empty for Node's own choice. Those of TLS 1.3 cannot be chosen, as in Go. */
  readonly cipherSuites: readonly string[];
  /** Of the key exchange, by Go's numbers; empty for Node's own choice. Their order is ignored, as in Go. */
  readonly curves: readonly string[];
}

/** TLS versions by their names in Kubernetes' flags. */
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

/** All of them are always enabled with TLS 1.3. */
const TLS13_SUITES = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

/** Names of all cipher suites. */
export const CIPHER_SUITE_NAMES: readonly string[] = [...TLS13_SUITES, ...Object.keys(CIPHER_SUITES)];

/** Go's numbers of its curves, which are IANA's, and OpenSSL's names; in order of preference. */
const CURVES: readonly (readonly [number: string, name: string])[] = [
  ['4588', 'X25519MLKEM768'],
  ['4587', 'SecP256r1MLKEM768'],
  ['4589', 'SecP384r1MLKEM1024'],
  ['29', 'X25519'],
  ['23', 'P-256'],
  ['24', 'P-384'],
  ['25', 'P-521'],
];

/** Numbers of all curves. */
export const CURVE_NUMBERS: readonly string[] = CURVES.map(([number]) => number).sort();

/** Options of a TLS context of Node. */
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
 * Sessions are not resumed: a resumed one has the client's certificate without its intermediates. And renegotiation,
 * which could exchange the client's certificate, is disabled.
 */
const SECURE_OPTIONS = constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION;

/** TLS contexts of a server, by the requested server name. */
export class SecureContexts {
  readonly #certificates: ServingCertificates;
  readonly #settings: TlsSettings;
  #named: readonly { readonly names: readonly string[]; readonly context: SecureContext }[] = [];

  constructor(certificates: ServingCertificates, settings: TlsSettings) {
    this.#certificates = certificates;
    this.#settings = settings;
    this.refresh();
  }

  /** Options of the default context. */
  get options(): SecureContextOptions {
    return this.#optionsFor(this.#certificates.current);
  }

  /** Loads the current certificates. */
  refresh(): void {
    this.#named = this.#certificates.named.map(({ names, pair }) => ({
      names: names.map((name) => name.toLowerCase()),
      context: createSecureContext(this.#optionsFor(pair)),
    }));
  }

  /** The context for a name; an exact match precedes a wildcard. */
  find(servername: string): SecureContext | undefined {
    const name = servername.toLowerCase();
    const pattern = name.replace(/^[^.]*/, '*');
    return [name, pattern]
      .map((pattern) => this.#named.find(({ names }) => names.includes(pattern))?.context)
      .find((context) => context !== undefined);
  }

  #optionsFor({ cert, key }: KeyAndCertificate): SecureContextOptions {
    return { cert, key, ...tlsContextOptions(this.#settings), secureOptions: SECURE_OPTIONS };
  }
}
