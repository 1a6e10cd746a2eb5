import type { AuthenticationConfig, FrontProxyHeaders } from '#lib/apiserver/access/authentication-config.ts';
import type { AuthenticationMethod } from '#lib/apiserver/access/authenticator.ts';
import { commonNameOf, peerChainOf } from '#lib/apiserver/access/client-certificate.ts';
import type { User } from '#lib/apiserver/http/user.ts';
import type { Clock } from '#lib/time/clock.ts';
import { RequestHeaders } from './request-headers.ts';

/**
 * Believes what the front proxy says in headers. That it is the front proxy, its certificate proves, by an authority
 * that signs for nobody else: a user's certificate of the same name is no such proof.
 */
export function byFrontProxy(config: () => AuthenticationConfig, clock: Clock): AuthenticationMethod {
  return ({ rawHeaders, socket }) => {
    const chain = peerChainOf(socket);
    const { frontProxy } = config();
    if (!chain || !frontProxy) return undefined;
    const error = chain.errorBy(frontProxy.authorities, clock.nowMs());
    if (error) return error;
    const name = commonNameOf(chain.leaf);
    const { allowedNames, headers } = frontProxy;
    if (allowedNames.length > 0 && !allowedNames.includes(name)) {
      return new Error(
        `the front proxy's certificate is called "${name}", which is not among the allowed names`,
      );
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

/** Keys that no header name could hold come percent-encoded. */
function decodeKey(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
