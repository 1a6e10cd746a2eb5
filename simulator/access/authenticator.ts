/** A user of the cluster, or `system:anonymous`. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The credentials of a connection and a request. */
export interface Credentials {
  /** Subject of a valid client certificate that the client CA signed. */
  readonly certificate?: {
    readonly commonName: string;
    readonly organizations: readonly string[];
    readonly sha256: string;
  };
  /** A client certificate was presented that another CA signed, or that has expired. */
  readonly hasInvalidCertificate?: boolean;
  readonly bearerToken?: string;
}

/** The user of a token. */
interface TokenUser {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Authenticates callers by client certificate or bearer token. */
export class Authenticator {
  readonly #tokens = new Map<string, TokenUser>();

  setToken(token: string, holder: TokenUser): void {
    this.#tokens.set(token, holder);
  }

  revokeToken(token: string): void {
    this.#tokens.delete(token);
  }

  /** @returns `undefined` for missing or invalid credentials */
  authenticate({ certificate, bearerToken }: Credentials): UserInfo | undefined {
    if (certificate) {
      return {
        username: certificate.commonName,
        groups: [...certificate.organizations, 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${certificate.sha256}`] },
      };
    }
    return bearerToken === undefined ? undefined : this.reviewToken(bearerToken);
  }

  /** @returns `undefined` for an unknown token */
  reviewToken(token: string): UserInfo | undefined {
    const holder = this.#tokens.get(token);
    return holder && { ...holder, groups: [...(holder.groups ?? []), 'system:authenticated'] };
  }
}

/** The user of requests without credentials. */
export const ANONYMOUS: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

/** A service account as the API server authenticates its tokens. */
export function serviceAccount(namespace: string, name: string, uid: string): TokenUser {
  return {
    username: `system:serviceaccount:${namespace}:${name}`,
    uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${uid}`] },
  };
}
