import { constants } from 'node:crypto';
import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { type RecordedResponses, responseKey } from './record-responses.ts';

/** A certificate chain and its key, as PEM. */
export interface ServingCertificate {
  readonly cert: string;
  readonly key: string;
}

/** A server that listens; disposing it does not wait for requests under way. */
export interface BaselineServer extends AsyncDisposable {
  readonly origin: string;
}

/**
 * Bare koa with ready-made responses: what our server's machine, runtime and libraries allow. Whatever of TLS and HTTP
 * costs each request or each connection is as our server has it; nothing else is there.
 */
export async function startBaselineServer(
  responses: RecordedResponses,
  { cert, key }: ServingCertificate,
): Promise<BaselineServer> {
  const app = new Koa();
  app.use((context) => {
    const response = responses.get(responseKey(context.req));
    if (!response) return; // koa says 404
    context.set(response.headers);
    context.body = response.body;
  });
  const server = createSecureServer({
    ...{ cert, key, requestCert: true, rejectUnauthorized: false, allowHTTP1: true },
    secureOptions: constants.SSL_OP_NO_TICKET,
    noDelay: true,
  });
  const respond = app.callback();
  server.on('request', (request, response) => void respond(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}
