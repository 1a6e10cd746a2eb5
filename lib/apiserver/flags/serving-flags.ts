import type { NamedCertificateFiles } from '#lib/apiserver/tls/serving-certificates.ts';
import { CIPHER_SUITE_NAMES, CURVE_NUMBERS, TLS_VERSIONS } from '#lib/apiserver/tls/tls-settings.ts';
import {
  boolean,
  duration,
  type FlagKind,
  flag,
  integer,
  ipAddress,
  notNegative,
  oneOf,
  text,
  texts,
} from '#lib/flags/flag.ts';

/** Files of certificate and key, and the names that they are for: `CERTFILE,KEYFILE:NAME,*.DOMAIN`; may be repeated. */
const certificateForNames: FlagKind<readonly NamedCertificateFiles[]> = {
  placeholder: 'namedCertKey',
  parse(text) {
    const [files = '', ...behind] = text.split(':');
    const [certFile = '', keyFile = '', ...more] = files.split(',').map((file) => file.trim());
    if (certFile === '' || keyFile === '' || more.length > 0) {
      throw new Error('must be the files of certificate and key with a comma between them');
    }
    const names = behind
      .join(':')
      .split(',')
      .map((name) => name.trim());
    if (behind.length > 0 && names.includes('')) throw new Error('must have no empty name');
    return [{ certFile, keyFile, names: behind.length > 0 ? names : [] }];
  },
  format: (all) =>
    `[${all.map(({ certFile, keyFile, names }) => `${certFile},${keyFile}${names.length > 0 ? `:${names.join(',')}` : ''}`).join(';')}]`,
  join: (lists) => lists.flat(),
};

/** Where the API is served, and with which certificate. */
export const servingFlags = {
  bindAddress: flag('bind-address', ipAddress, {
    default: '0.0.0.0',
    description: 'The IP address to listen on; 0.0.0.0 or :: is every interface, by IPv4 and IPv6.',
  }),
  securePort: flag('secure-port', integer, {
    default: 443,
    description: 'The port to serve HTTPS on; 0 takes any that is free.',
    ruleBrokenBy: (port) => (port >= 0 && port <= 65_535 ? undefined : 'must be from 0 to 65535'),
  }),
  certDir: flag('cert-dir', text, {
    default: 'apiserver.local.config/certificates',
    description: 'Where a self-signed certificate is kept when no --tls-cert-file is given.',
  }),
  tlsCertFile: flag('tls-cert-file', text, {
    default: '',
    description:
      'File with the certificate to serve with, in PEM, and its intermediates behind it; needs --tls-private-key-file.',
  }),
  tlsPrivateKeyFile: flag('tls-private-key-file', text, {
    default: '',
    description: 'File with its key, in PEM.',
  }),
  tlsSniCertKeys: flag('tls-sni-cert-key', certificateForNames, {
    default: [],
    description:
      'Another certificate and its key, CERTFILE,KEYFILE, for clients that ask for a DNS name that it is made out to, or ' +
      'for certain names, CERTFILE,KEYFILE:NAME,*.DOMAIN; may be given more than once.',
  }),
  tlsMinVersion: flag('tls-min-version', oneOf(...namesOf(TLS_VERSIONS)), {
    default: 'VersionTLS12',
    description: `The lowest version of TLS to speak: ${namesOf(TLS_VERSIONS).join(', ')}.`,
  }),
  tlsCipherSuites: flag('tls-cipher-suites', texts, {
    default: [],
    description:
      "Cipher suites of TLS 1.2 to speak, by Go's names, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 for one; " +
      'those of TLS 1.3 are not chosen among.',
    ruleBrokenBy: (names) => {
      const unknown = names.find((name) => !CIPHER_SUITE_NAMES.includes(name));
      return unknown === undefined
        ? undefined
        : `"${unknown}" must be one of ${CIPHER_SUITE_NAMES.join(', ')}`;
    },
  }),
  tlsCurvePreferences: flag('tls-curve-preferences', texts, {
    default: [],
    description: `Curves of the TLS key exchange to speak, by Go's numbers, 23 for P-256 and 29 for X25519: any of ${CURVE_NUMBERS.join(', ')}.`,
    ruleBrokenBy: (numbers) => {
      const unknown = numbers.find((number) => !CURVE_NUMBERS.includes(number));
      return unknown === undefined ? undefined : `"${unknown}" must be one of ${CURVE_NUMBERS.join(', ')}`;
    },
  }),
  disableHttp2Serving: flag('disable-http2-serving', boolean, {
    default: false,
    description: 'Speak HTTP/1.1 alone.',
  }),
  http2MaxStreamsPerConnection: flag('http2-max-streams-per-connection', integer, {
    default: 0,
    description: 'How many requests at once one HTTP/2 connection may carry; 0 for 100.',
    ruleBrokenBy: notNegative,
  }),
  maxRequestsInflight: flag('max-requests-inflight', integer, {
    default: 400,
    description:
      'How many reading requests may be under way at once; more are told to come again (429). 0 for any number.',
    ruleBrokenBy: notNegative,
  }),
  maxMutatingRequestsInflight: flag('max-mutating-requests-inflight', integer, {
    default: 200,
    description: 'The same for requests by methods that would change things.',
    ruleBrokenBy: notNegative,
  }),
  shutdownDelayMs: flag('shutdown-delay-duration', duration, {
    default: 0,
    description:
      'How long to go on serving after SIGTERM, with /readyz failing, before connections are refused: time for ' +
      'everybody to learn that requests are to go elsewhere.',
    ruleBrokenBy: notNegative,
  }),
};

function namesOf<T extends object>(versions: T): (keyof T & string)[] {
  return Object.keys(versions) as (keyof T & string)[];
}
