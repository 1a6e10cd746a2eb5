import type { User } from '#lib/apiserver/http/api-context.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { AuthenticationConfig, FrontProxyHeaders } from './authentication-config.ts';
import type { AuthenticationMethod } from './authenticator.ts';
import { commonNameOf, peerChainOf } from './client-certificate.ts';

/**
 * Trusts the headers of the front proxy. Its certificate must be signed by an authority for front proxies alone: a
 * user's certificate of the same name is no proof.
 */
export function requestHeaderAuthenticator(
  config: () => AuthenticationConfig,
  clock: Clock,
): AuthenticationMethod {
  return ({ rawHeaders, socket }) => {
    const chain = peerChainOf(socket);
    const { frontProxy } = config();
    if (!chain || !frontProxy) return undefined;
    const error = chain.errorBy(frontProxy.authorities, clock.nowMs());
    if (error) return error;
    const name = commonNameOf(chain.leaf);
    const { allowedNames, headers } = frontProxy;
    if (allowedNames.length > 0 && !allowedNames.includes(name)) {
      return new Error(`common name "${name}" of the front proxy's certificate is not allowed`);
    }
    return userIn(new RequestHeaders(rawHeaders), headers);
  };
}

function userIn(headers: RequestHeaders, names: FrontProxyHeaders): User | undefined {
  const name = headers.first(names.username);
  if (name === undefined) return undefined;
  const extra = new Map<string, string[]>();
  for (const [rest, value] of headers.withPrefix(names.extraPrefix)) {
    const key = decodeKey(rest);
    const values = extra.get(key);
    if (values) values.push(value);
    else extra.set(key, [value]);
  }
  return {
    name,
    uid: headers.first(names.uid) ?? '',
    groups: headers.all(names.group),
    extra: Object.fromEntries(extra),
  };
}

/** Keys are percent-encoded where they have characters that header names cannot have. */
function decodeKey(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Reads headers one by one as they were sent: Node's own object joins those of one name by commas. */
export class RequestHeaders {
  /** Names in lower case. */
  readonly #fields: readonly (readonly [name: string, value: string])[];

  /** @param raw alternating names and values */
  constructor(raw: readonly string[]) {
    const fields: (readonly [string, string])[] = [];
    for (let index = 0; index + 1 < raw.length; index += 2) {
      fields.push([(raw[index] ?? '').toLowerCase(), utf8Of(raw[index + 1] ?? '')]);
    }
    this.#fields = fields;
  }

  /** The first value that is not empty, in the order of the names. */
  first(names: readonly string[]): string | undefined {
    for (const name of names) {
      const value = this.#fields.find(([key]) => key === name.toLowerCase())?.[1];
      if (value) return value;
    }
    return undefined;
  }

  /** All values that are not empty, in the order of the names. */
  all(names: readonly string[]): readonly string[] {
    return names.flatMap((name) =>
      this.#fields.filter(([key, value]) => key === name.toLowerCase() && value !== '').map(([, v]) => v),
    );
  }

  /** All headers whose names have one of several prefixes, by the rest of the name in lower case. */
  *withPrefix(prefixes: readonly string[]): Generator<readonly [rest: string, value: string], void, void> {
    for (const prefix of prefixes) {
      for (const [name, value] of this.#fields) {
        if (name.startsWith(prefix.toLowerCase())) yield [name.slice(prefix.length), value];
      }
    }
  }
}

/** Node decodes headers as Latin-1, one character a byte; Kubernetes uses UTF-8. */
function utf8Of(value: string): string {
  return /[\x80-\xff]/.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value;
}
