import type { CredentialSource, HttpCredentials } from './http-credentials.ts';

/** Credentials of which one source has the token, say, and another the certificates; `undefined` for none. */
export function joinedCredentials(
  ...sources: readonly (CredentialSource | undefined)[]
): CredentialSource | undefined {
  const given = sources.filter((source) => source !== undefined);
  if (given.length < 2) return given[0];
  let joined: { readonly of: readonly HttpCredentials[]; readonly credentials: HttpCredentials } | undefined;
  return {
    name: JSON.stringify(given.map(({ name }) => name)),
    get current() {
      const of = given.map(({ current }) => current);
      if (!joined || of.some((one, index) => one !== joined?.of[index]))
        joined = { of, credentials: Object.assign({}, ...of.map(defined)) };
      return joined.credentials;
    },
  };
}

function defined(credentials: HttpCredentials): HttpCredentials {
  return Object.fromEntries(Object.entries(credentials).filter(([, value]) => value !== undefined));
}
