import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Next } from 'koa';
import type { Authenticator } from '#lib/apiserver/access/authenticator.ts';
import { isProbe } from '#lib/apiserver/health.ts';
import { ANONYMOUS, type ApiContext, type Middleware, type User } from '#lib/apiserver/http/api-context.ts';
import { StatusError, unauthorized } from '#lib/apiserver/http/status-error.ts';
import type { ReservationKind } from '#lib/apiserver/serving/connection-gate.ts';

/** Finds the user of a request, and responds with 401 where its credentials are invalid. */
export function authenticate(authenticator: Authenticator): Middleware {
  return ({ req, state }, next) => {
    const proceed = (user: User | undefined) => {
      if (!user) throw unauthorized();
      state.user = user;
      return next();
    };
    const found = authenticator({
      headers: req.headers,
      rawHeaders: req.rawHeaders,
      socket: connectionOf(req),
      signal: () => state.deadline.signal,
    });
    return found instanceof Promise ? found.then(proceed) : proceed(found);
  };
}

/** The same object for all requests of one connection; the socket of HTTP/2's requests is a new proxy for each. */
function connectionOf(request: IncomingMessage | Http2ServerRequest): TLSSocket {
  const session = 'stream' in request ? request.stream.session : undefined;
  return (session?.socket ?? request.socket) as TLSSocket; // nothing else is listened for
}

/** Reports the addresses of authenticated users and of probes: connections are reserved for them. */
export function recogniseAddress(
  note: (address: string | undefined, kind: ReservationKind) => void,
): Middleware {
  return (context, next) => {
    const { info, user } = context.state;
    if (user.name !== ANONYMOUS.name) note(context.req.socket.remoteAddress, 'user');
    else if (isProbe(info)) note(context.req.socket.remoteAddress, 'probe');
    return next();
  };
}

/** Browsers show this in their form, and reuse credentials for the same realm. */
const CHALLENGE = 'Basic realm="A token as the password, any user name", charset="UTF-8"';

/**
 * Lets browsers open some paths with a token: they can send it only as the password of a form of theirs. On these paths
 * a password counts as a bearer token, and callers who are refused without one, or with an invalid one, get a
 * challenge.
 */
export function signInBrowsers(paths: readonly string[]): Middleware {
  const signedIn = new Set(paths);
  const signIn = async (context: ApiContext, next: Next) => {
    const { headers } = context.req;
    const token = passwordIn(headers.authorization ?? '');
    if (token !== undefined) headers.authorization = `Bearer ${token}`;
    try {
      await next();
    } catch (error) {
      if (!(error instanceof StatusError) || (error.code !== 401 && error.code !== 403)) throw error;
      // A caller with other credentials, such as a certificate, gains nothing by a password.
      if (error.code === 403 && token === undefined && context.state.user.name !== ANONYMOUS.name)
        throw error;
      context.set('WWW-Authenticate', CHALLENGE);
      throw new StatusError(401, 'Unauthorized', error.message);
    }
  };
  return (context, next) => (signedIn.has(context.state.info.path) ? signIn(context, next) : next());
}

const BASIC = 'basic ';

/** The password of the scheme Basic; the user name ends at the first colon. */
function passwordIn(header: string): string | undefined {
  if (header.slice(0, BASIC.length).toLowerCase() !== BASIC) return undefined;
  const text = Buffer.from(header.slice(BASIC.length), 'base64').toString('utf8');
  const end = text.indexOf(':');
  return end < 0 ? undefined : text.slice(end + 1);
}
