/** Somebody whom the cluster knows, or `system:anonymous`. */
export interface Caller {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What a connection and a request show of their sender. */
export interface Credentials {
  /** Subject of a client certificate that the client CA signed and that is valid. */
  readonly certificate?: {
    readonly commonName: string;
    readonly organizations: readonly string[];
    readonly sha256: string;
  };
  /** A client certificate was shown and is none of ours, or no longer. */
  readonly hasForeignCertificate?: boolean;
  readonly bearerToken?: string;
}

/** What is told of somebody who has a token. */
export interface TokenHolder {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Who is calling, by client certificate or bearer token. */
export class Authenticator {
  readonly #tokens = new Map<string, TokenHolder>();

  setToken(token: string, holder: TokenHolder): void {
    this.#tokens.set(token, holder);
  }

  revokeToken(token: string): void {
    this.#tokens.delete(token);
  }

  /** @returns `undefined` for credentials that are missing or no good */
  authenticate({ certificate, bearerToken }: Credentials): Caller | undefined {
    if (certificate) {
      return {
        username: certificate.commonName,
        groups: [...certificate.organizations, 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${certificate.sha256}`] },
      };
    }
    return bearerToken === undefined ? undefined : this.reviewToken(bearerToken);
  }

  /** @returns `undefined` for a token that nobody holds */
  reviewToken(token: string): Caller | undefined {
    const holder = this.#tokens.get(token);
    return holder && { ...holder, groups: [...(holder.groups ?? []), 'system:authenticated'] };
  }
}

/** Who calls without credentials. */
export const ANONYMOUS: Caller = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

/** A service account as the API server knows its tokens. */
export function serviceAccount(namespace: string, name: string, uid: string): TokenHolder {
  return {
    username: `system:serviceaccount:${namespace}:${name}`,
    uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${uid}`] },
  };
}
