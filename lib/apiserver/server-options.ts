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

export const authenticationFlags = {
  authenticationKubeconfig: flag('authentication-kubeconfig', text, {
    default: '',
    description:
      'Kubeconfig file of the API server that reviews tokens and publishes the client CAs. By default, the file of --kubeconfig.',
  }),
  authenticationSkipLookup: flag('authentication-skip-lookup', boolean, {
    default: false,
    description:
      'Do not read client CAs from the cluster: use only those of --client-ca-file and --requestheader-client-ca-file.',
  }),
  authenticationTolerateLookupFailure: flag('authentication-tolerate-lookup-failure', boolean, {
    default: false,
    description:
      'Start even if the API server forbids reading the client CAs. Clients may then be treated as anonymous.',
  }),
  authenticationTokenCacheTtlMs: flag('authentication-token-webhook-cache-ttl', duration, {
    default: 10_000,
    description: 'How long token reviews are cached.',
    validate: notNegative,
  }),
  clientCaFile: flag('client-ca-file', text, {
    default: '',
    description:
      'PEM file with the CA certificates that verify client certificates. By default, those of the cluster.',
  }),
  requestheaderClientCaFile: flag('requestheader-client-ca-file', text, {
    default: '',
    description:
      "PEM file with the CA certificates that verify the front proxy's client certificate. By default, those of the cluster are " +
      'used, and the configuration of the cluster replaces all other --requestheader-… flags.',
  }),
  requestheaderAllowedNames: flag('requestheader-allowed-names', texts, {
    default: [],
    description: "Allowed common names of the front proxy's certificate; by default any.",
  }),
  requestheaderUsernameHeaders: flag('requestheader-username-headers', texts, {
    default: ['x-remote-user'],
    description: 'Headers with the user name. The first header with a value is used.',
    validate: noneEmpty,
  }),
  requestheaderUidHeaders: flag('requestheader-uid-headers', texts, {
    default: [],
    description: 'Headers with the UID of the user, such as X-Remote-Uid.',
    validate: noneEmpty,
  }),
  requestheaderGroupHeaders: flag('requestheader-group-headers', texts, {
    default: ['x-remote-group'],
    description: 'Headers with groups of the user.',
    validate: noneEmpty,
  }),
  requestheaderExtraHeadersPrefix: flag('requestheader-extra-headers-prefix', texts, {
    default: ['x-remote-extra-'],
    description: 'Prefixes of headers with extra attributes of the user.',
    validate: noneEmpty,
  }),
};

function noneEmpty(names: readonly string[]): string | undefined {
  return names.every((name) => name.trim() !== '') ? undefined : 'must not have an empty name';
}

export const authorizationFlags = {
  authorizationKubeconfig: flag('authorization-kubeconfig', text, {
    default: '',
    description:
      'Kubeconfig file of the API server that reviews permissions. By default, the file of --kubeconfig.',
  }),
  authorizationAlwaysAllowPaths: flag('authorization-always-allow-paths', texts, {
    default: ['/healthz', '/readyz', '/livez'],
    description: 'Paths that all clients may get without authorization. A trailing * matches any suffix.',
    validate: strayStar,
  }),
  authorizationAuthorizedTtlMs: flag('authorization-webhook-cache-authorized-ttl', duration, {
    default: 10_000,
    description: 'How long decisions that allow a request are cached.',
    validate: notNegative,
  }),
  authorizationUnauthorizedTtlMs: flag('authorization-webhook-cache-unauthorized-ttl', duration, {
    default: 10_000,
    description: 'How long decisions that deny a request are cached.',
    validate: notNegative,
  }),
};

function strayStar(paths: readonly string[]): string | undefined {
  try {
    parsePathRules(paths);
    return undefined;
  } catch {
    return 'must have * only at the end of a path';
  }
}

/** Files of certificate and key, and the names to use them for: `CERTFILE,KEYFILE:NAME,*.DOMAIN`; may be repeated. */
const certificateForNames: FlagKind<readonly NamedCertificateFiles[]> = {
  placeholder: 'namedCertKey',
  parse(text) {
    const [files = '', ...behind] = text.split(':');
    const [certFile = '', keyFile = '', ...more] = files.split(',').map((file) => file.trim());
    if (certFile === '' || keyFile === '' || more.length > 0) {
      throw new Error('must be CERTFILE,KEYFILE or CERTFILE,KEYFILE:NAMES');
    }
    const names = behind
      .join(':')
      .split(',')
      .map((name) => name.trim());
    if (behind.length > 0 && names.includes('')) throw new Error('must not have an empty name');
    return [{ certFile, keyFile, names: behind.length > 0 ? names : [] }];
  },
  format: (all) =>
    `[${all.map(({ certFile, keyFile, names }) => `${certFile},${keyFile}${names.length > 0 ? `:${names.join(',')}` : ''}`).join(';')}]`,
  join: (lists) => lists.flat(),
};

export const servingFlags = {
  bindAddress: flag('bind-address', ipAddress, {
    default: '0.0.0.0',
    description: 'The IP address to listen on; 0.0.0.0 or :: for all interfaces, with IPv4 and IPv6.',
  }),
  securePort: flag('secure-port', integer, {
    default: 443,
    description: 'The port to serve HTTPS on; 0 for any free port.',
    validate: (port) => (port >= 0 && port <= 65_535 ? undefined : 'must be from 0 to 65535'),
  }),
  certDir: flag('cert-dir', text, {
    default: 'apiserver.local.config/certificates',
    description: 'Directory of the self-signed certificate, which is used if --tls-cert-file is not set.',
  }),
  tlsCertFile: flag('tls-cert-file', text, {
    default: '',
    description:
      'PEM file with the serving certificate, followed by its intermediates; requires --tls-private-key-file.',
  }),
  tlsPrivateKeyFile: flag('tls-private-key-file', text, {
    default: '',
    description: 'PEM file with the private key of --tls-cert-file.',
  }),
  tlsSniCertKeys: flag('tls-sni-cert-key', certificateForNames, {
    default: [],
    description:
      'An additional certificate and key: CERTFILE,KEYFILE for clients that request a DNS name of the certificate (SNI), or CERTFILE,KEYFILE:NAME,*.DOMAIN for clients that request one of these names. May be repeated.',
  }),
  tlsMinVersion: flag('tls-min-version', oneOf(...namesOf(TLS_VERSIONS)), {
    default: 'VersionTLS12',
    description: `Minimum TLS version: ${namesOf(TLS_VERSIONS).join(', ')}.`,
  }),
  tlsCipherSuites: flag('tls-cipher-suites', texts, {
    default: [],
    description:
      "Cipher suites of TLS 1.2, by Go's names, such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256; " +
      'those of TLS 1.3 are always enabled.',
    validate: (names) => {
      const unknown = names.find((name) => !CIPHER_SUITE_NAMES.includes(name));
      return unknown === undefined
        ? undefined
        : `"${unknown}" must be one of ${CIPHER_SUITE_NAMES.join(', ')}`;
    },
  }),
  tlsCurvePreferences: flag('tls-curve-preferences', texts, {
    default: [],
    description: `Curves of the TLS key exchange, by Go's numbers, such as 23 for P-256 and 29 for X25519: any of ${CURVE_NUMBERS.join(', ')}.`,
    validate: (numbers) => {
      const unknown = numbers.find((number) => !CURVE_NUMBERS.includes(number));
      return unknown === undefined ? undefined : `"${unknown}" must be one of ${CURVE_NUMBERS.join(', ')}`;
    },
  }),
  disableHttp2Serving: flag('disable-http2-serving', boolean, {
    default: false,
    description: 'Serve only HTTP/1.1.',
  }),
  http2MaxStreamsPerConnection: flag('http2-max-streams-per-connection', integer, {
    default: 0,
    description: 'Maximum number of concurrent requests of one HTTP/2 connection; 0 means 100.',
    validate: notNegative,
  }),
  maxRequestsInflight: flag('max-requests-inflight', integer, {
    default: 400,
    description:
      'Maximum number of concurrent read-only requests; further requests get 429. 0 means no limit.',
    validate: notNegative,
  }),
  maxMutatingRequestsInflight: flag('max-mutating-requests-inflight', integer, {
    default: 200,
    description:
      'Maximum number of concurrent mutating requests; further requests get 429. 0 means no limit.',
    validate: notNegative,
  }),
  requestTimeoutMs: flag('request-timeout', duration, {
    default: 60_000,
    description:
      'Timeout for producing a response. The client has the same time to read the response. A request may set a shorter timeout by ' +
      'the query parameter timeout. Watches are not affected.',
    validate: (durationMs) => (durationMs > 0 ? undefined : 'must be longer than 0s'),
  }),
  shutdownDelayMs: flag('shutdown-delay-duration', duration, {
    default: 0,
    description:
      'How long to continue serving after SIGTERM, while /readyz fails. In this time, load balancers remove the endpoint.',
    validate: notNegative,
  }),
};

function namesOf<T extends object>(versions: T): (keyof T & string)[] {
  return Object.keys(versions) as (keyof T & string)[];
}

export interface ServingOptions {
  /** Empty or unspecified for all interfaces. */
  readonly bindAddress: string;
  /** 0 for any free port. */
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
  /** Timeout for making a response, and again for reading it. */
  readonly requestTimeoutMs: number;
  /** How long to continue serving, not ready, once shutdown begins. */
  readonly shutdownDelayMs: number;
}

export interface AuthenticationOptions extends DelegatedAuthenticationOptions {
  /** `undefined` for the API server of `--kubeconfig`. */
  readonly kubeconfig: string | undefined;
}

export interface AuthorizationOptions {
  /** `undefined` for the API server of `--kubeconfig`. */
  readonly kubeconfig: string | undefined;
  readonly alwaysAllowed: PathRules;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
}

/** Frozen. */
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
    requestTimeoutMs: values.requestTimeoutMs,
    shutdownDelayMs: values.shutdownDelayMs,
  });
}

/** Frozen. */
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

/** Frozen. */
export function authorizationOptionsOf(values: FlagValues<typeof authorizationFlags>): AuthorizationOptions {
  return Object.freeze({
    kubeconfig: given(values.authorizationKubeconfig),
    alwaysAllowed: parsePathRules(values.authorizationAlwaysAllowPaths),
    authorizedTtlMs: values.authorizationAuthorizedTtlMs,
    unauthorizedTtlMs: values.authorizationUnauthorizedTtlMs,
  });
}

/** As in Go, an empty string is an unset flag. */
function given(text: string): string | undefined {
  return text === '' ? undefined : text;
}
