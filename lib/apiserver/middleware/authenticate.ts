import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Next } from 'koa';
import type { Authenticator } from '#lib/apiserver/access/authenticator.ts';
import { isProbe } from '#lib/apiserver/health.ts';
import {
  ANONYMOUS,
  type ApiContext,
  type Endpoint,
  type Middleware,
  type User,
} from '#lib/apiserver/http/api-context.ts';
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
export function reserveConnections(
  note: (address: string | undefined, kind: ReservationKind) => void,
): Middleware {
  return (context, next) => {
    const { info, user } = context.state;
    if (user.name !== ANONYMOUS.name) note(context.req.socket.remoteAddress, 'user');
    else if (isProbe(info)) note(context.req.socket.remoteAddress, 'probe');
    return next();
  };
}

/** Pages that people open in browsers, which send no credentials with the first request. */
export interface BrowserSignIn {
  readonly paths: readonly string[];
  /** Renders a form for a bearer token. It has no data; its scripts send the token with further requests. */
  readonly form: Endpoint;
}

/**
 * Responds with a form for a bearer token, instead of a Status, to browsers that may not get a page and send no
 * credentials in headers. Behind `kubectl proxy`, requests have the credentials of its user, and there is no form.
 */
export function signInBrowsers({ paths, form }: BrowserSignIn): Middleware {
  const pages = new Set(paths);
  const signIn = async (context: ApiContext, next: Next) => {
    try {
      await next();
    } catch (error) {
      if (!(error instanceof StatusError) || (error.code !== 401 && error.code !== 403)) throw error;
      const { authorization, accept = '' } = context.req.headers;
      if (authorization !== undefined || !accept.includes('text/html')) throw error;
      await form(context);
      context.status = 401;
      context.set('WWW-Authenticate', 'Bearer');
    }
  };
  return (context, next) => (pages.has(context.state.info.path) ? signIn(context, next) : next());
}
