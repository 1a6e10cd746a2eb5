import {
  boolean,
  duration,
  type FlagKind,
  type FlagValues,
  flag,
  integer,
  ipAddress,
  notNegative,
  oneOf,
  text,
  texts,
} from '#lib/flags/flag.ts';
import { type PathRules, parsePathRules } from './access/authorizer.ts';
import type { DelegatedAuthenticationOptions } from './access/delegated-access.ts';
import type { InFlightLimits } from './middleware/limit-in-flight.ts';
import { DEFAULT_MAX_STREAMS } from './serving/secure-server.ts';
import type { NamedCertificateFiles } from './serving/serving-certificates.ts';
import { CIPHER_SUITE_NAMES, CURVE_NUMBERS, TLS_VERSIONS, type TlsSettings } from './serving/tls-context.ts';

/** Who may come in, and who says so. */
export const authenticationFlags = {
  authenticationKubeconfig: flag('authentication-kubeconfig', text, {
    default: '',
    description:
      'Kubeconfig file for the API server that is asked whose a token is and whom to believe; by default as --kubeconfig.',
  }),
  authenticationSkipLookup: flag('authentication-skip-lookup', boolean, {
    default: false,
    description:
      'Do not learn from the cluster what --client-ca-file and --requestheader-client-ca-file leave open.',
  }),
  authenticationTolerateLookupFailure: flag('authentication-tolerate-lookup-failure', boolean, {
    default: false,
    description:
      'Start although the API server refuses to tell whom to believe. Callers may then be taken for anonymous.',
  }),
  authenticationTokenCacheTtlMs: flag('authentication-token-webhook-cache-ttl', duration, {
    default: 10_000,
    description: 'For how long it is remembered whose a token is.',
    validate: notNegative,
  }),
  clientCaFile: flag('client-ca-file', text, {
    default: '',
    description:
      "File with the authorities, in PEM, that sign users' certificates; by default those that the cluster tells of.",
  }),
  requestheaderClientCaFile: flag('requestheader-client-ca-file', text, {
    default: '',
    description:
      "File with the authorities, in PEM, that sign the front proxy's certificate; by default the cluster tells of " +
      'them and of everything that the other --requestheader-… flags say.',
  }),
  requestheaderAllowedNames: flag('requestheader-allowed-names', texts, {
    default: [],
    description: "Common names of the front proxy's certificate; by default any.",
  }),
  requestheaderUsernameHeaders: flag('requestheader-username-headers', texts, {
    default: ['x-remote-user'],
    description: 'Headers in which the front proxy names the user; the first that has a value counts.',
    validate: noneEmpty,
  }),
  requestheaderUidHeaders: flag('requestheader-uid-headers', texts, {
    default: [],
    description: 'Headers in which the front proxy gives the UID of the user, X-Remote-Uid for one.',
    validate: noneEmpty,
  }),
  requestheaderGroupHeaders: flag('requestheader-group-headers', texts, {
    default: ['x-remote-group'],
    description: 'Headers in which the front proxy names groups of the user.',
    validate: noneEmpty,
  }),
  requestheaderExtraHeadersPrefix: flag('requestheader-extra-headers-prefix', texts, {
    default: ['x-remote-extra-'],
    description: 'Beginnings of headers in which the front proxy tells more about the user.',
    validate: noneEmpty,
  }),
};

function noneEmpty(names: readonly string[]): string | undefined {
  return names.every((name) => name.trim() !== '') ? undefined : 'must not have an empty name';
}

/** Who may do what, and who says so. */
export const authorizationFlags = {
  authorizationKubeconfig: flag('authorization-kubeconfig', text, {
    default: '',
    description:
      'Kubeconfig file for the API server that is asked who may do what; by default as --kubeconfig.',
  }),
  authorizationAlwaysAllowPaths: flag('authorization-always-allow-paths', texts, {
    default: ['/healthz', '/readyz', '/livez'],
    description: 'Paths that everybody may ask for; a star at the end stands for whatever follows.',
    validate: strayStar,
  }),
  authorizationAuthorizedTtlMs: flag('authorization-webhook-cache-authorized-ttl', duration, {
    default: 10_000,
    description: 'For how long it is remembered that somebody may do something.',
    validate: notNegative,
  }),
  authorizationUnauthorizedTtlMs: flag('authorization-webhook-cache-unauthorized-ttl', duration, {
    default: 10_000,
    description: 'For how long it is remembered that somebody may not do something.',
    validate: notNegative,
  }),
};

function strayStar(paths: readonly string[]): string | undefined {
  try {
    parsePathRules(paths);
    return undefined;
  } catch {
    return 'must have no star but at the end of a path';
  }
}

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
    validate: (port) => (port >= 0 && port <= 65_535 ? undefined : 'must be from 0 to 65535'),
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
    validate: (names) => {
      const unknown = names.find((name) => !CIPHER_SUITE_NAMES.includes(name));
      return unknown === undefined
        ? undefined
        : `"${unknown}" must be one of ${CIPHER_SUITE_NAMES.join(', ')}`;
    },
  }),
  tlsCurvePreferences: flag('tls-curve-preferences', texts, {
    default: [],
    description: `Curves of the TLS key exchange to speak, by Go's numbers, 23 for P-256 and 29 for X25519: any of ${CURVE_NUMBERS.join(', ')}.`,
    validate: (numbers) => {
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
    validate: notNegative,
  }),
  maxRequestsInflight: flag('max-requests-inflight', integer, {
    default: 400,
    description:
      'How many reading requests may be under way at once; more are told to come again (429). 0 for any number.',
    validate: notNegative,
  }),
  maxMutatingRequestsInflight: flag('max-mutating-requests-inflight', integer, {
    default: 200,
    description: 'The same for requests by methods that would change things.',
    validate: notNegative,
  }),
  shutdownDelayMs: flag('shutdown-delay-duration', duration, {
    default: 0,
    description:
      'How long to go on serving after SIGTERM, with /readyz failing, before connections are refused: time for ' +
      'everybody to learn that requests are to go elsewhere.',
    validate: notNegative,
  }),
};

function namesOf<T extends object>(versions: T): (keyof T & string)[] {
  return Object.keys(versions) as (keyof T & string)[];
}

/** Where and how the API is served. */
export interface ServingOptions {
  /** Empty or unspecified for every interface. */
  readonly bindAddress: string;
  /** 0 for any that is free. */
  readonly port: number;
  readonly certDir: string;
  /** Both or none. */
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly namedCertificates: readonly NamedCertificateFiles[];
  readonly tls: TlsSettings;
  /** 0 for HTTP/1.1 alone. */
  readonly maxStreamsPerConnection: number;
  readonly inFlightLimits: InFlightLimits;
  /** How long to go on serving, not ready, once asked to end. */
  readonly shutdownDelayMs: number;
}

/** Who callers are. */
export interface AuthenticationOptions extends DelegatedAuthenticationOptions {
  /** `undefined` for the same as without authentication. */
  readonly kubeconfig: string | undefined;
}

/** What callers may do. */
export interface AuthorizationOptions {
  /** `undefined` for the same as without authorization. */
  readonly kubeconfig: string | undefined;
  readonly alwaysAllowed: PathRules;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
}

/** What the serving flags say; frozen. */
export function servingOptionsOf(values: FlagValues<typeof servingFlags>): ServingOptions {
  return Object.freeze({
    bindAddress: values.bindAddress,
    port: values.securePort,
    certDir: values.certDir,
    certFile: given(values.tlsCertFile),
    keyFile: given(values.tlsPrivateKeyFile),
    namedCertificates: values.tlsSniCertKeys,
    tls: {
      minVersion: TLS_VERSIONS[values.tlsMinVersion],
      cipherSuites: values.tlsCipherSuites,
      curves: values.tlsCurvePreferences,
    },
    maxStreamsPerConnection: values.disableHttp2Serving
      ? 0
      : values.http2MaxStreamsPerConnection || DEFAULT_MAX_STREAMS,
    inFlightLimits: {
      reading: values.maxRequestsInflight || Number.POSITIVE_INFINITY,
      mutating: values.maxMutatingRequestsInflight || Number.POSITIVE_INFINITY,
    },
    shutdownDelayMs: values.shutdownDelayMs,
  });
}

/** What the authentication flags say; frozen. */
export function authenticationOptionsOf(
  values: FlagValues<typeof authenticationFlags>,
): AuthenticationOptions {
  return Object.freeze({
    kubeconfig: given(values.authenticationKubeconfig),
    clientCaFile: given(values.clientCaFile),
    frontProxyCaFile: given(values.requestheaderClientCaFile),
    frontProxyAllowedNames: values.requestheaderAllowedNames,
    frontProxyHeaders: {
      username: values.requestheaderUsernameHeaders,
      uid: values.requestheaderUidHeaders,
      group: values.requestheaderGroupHeaders,
      extraPrefix: values.requestheaderExtraHeadersPrefix,
    },
    skipLookup: values.authenticationSkipLookup,
    tolerateLookupFailure: values.authenticationTolerateLookupFailure,
    tokenCacheTtlMs: values.authenticationTokenCacheTtlMs,
  });
}

/** What the authorization flags say; frozen. */
export function authorizationOptionsOf(values: FlagValues<typeof authorizationFlags>): AuthorizationOptions {
  return Object.freeze({
    kubeconfig: given(values.authorizationKubeconfig),
    alwaysAllowed: parsePathRules(values.authorizationAlwaysAllowPaths),
    authorizedTtlMs: values.authorizationAuthorizedTtlMs,
    unauthorizedTtlMs: values.authorizationUnauthorizedTtlMs,
  });
}

/** As in Go, an empty text is none. */
function given(text: string): string | undefined {
  return text === '' ? undefined : text;
}
