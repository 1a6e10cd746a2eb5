import type { CaBundle } from '#lib/apiserver/certificates/ca-bundle.ts';

/** Whom to believe, as of one moment; replaced as a whole when it changes. */
export interface AuthenticationConfig {
  /** Who signs certificates that users identify themselves with; `undefined` while nobody is known to. */
  readonly clientAuthorities: CaBundle | undefined;
  readonly frontProxy: FrontProxyConfig | undefined;
}

/** The proxy in front of this server that tells in headers on whose behalf it asks. */
export interface FrontProxyConfig {
  /** Who signs its certificate. */
  readonly authorities: CaBundle;
  /** What its certificate may be called; none for any name. */
  readonly allowedNames: readonly string[];
  readonly headers: FrontProxyHeaders;
}

/** Names of headers, in any letters; of those with several names, the first that has a value counts. */
export interface FrontProxyHeaders {
  readonly username: readonly string[];
  /** None where uids are not to be believed. */
  readonly uid: readonly string[];
  /** All of them count. */
  readonly group: readonly string[];
  /** Beginnings; the rest of a name is a key. */
  readonly extraPrefix: readonly string[];
}
