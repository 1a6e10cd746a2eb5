import { type PathRules, parsePathRules } from '#lib/apiserver/access/authorizer.ts';
import type { DelegatedAuthenticationOptions } from '#lib/apiserver/access/delegated-access.ts';
import type { InFlightLimits } from '#lib/apiserver/middleware/limit-in-flight.ts';
import { DEFAULT_MAX_STREAMS } from '#lib/apiserver/serving/secure-server.ts';
import type { NamedCertificateFiles } from '#lib/apiserver/tls/serving-certificates.ts';
import { TLS_VERSIONS, type TlsSettings } from '#lib/apiserver/tls/tls-settings.ts';
import type { FlagValues } from '#lib/flags/flag.ts';
import type { authenticationFlags } from './authentication-flags.ts';
import type { authorizationFlags } from './authorization-flags.ts';
import type { servingFlags } from './serving-flags.ts';

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
