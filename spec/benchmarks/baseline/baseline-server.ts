import { constants } from 'node:crypto';
import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { type RecordedResponses, responseKey } from './record-responses.ts';

export interface ServingCertificate {
  readonly cert: string;
  readonly key: string;
}

/** A listening server. Disposal does not wait for open requests. */
export interface BaselineServer extends AsyncDisposable {
  readonly origin: string;
}

/**
 * Bare koa with prepared responses: the limit of this machine, the runtime and the libraries. TLS and HTTP have the
 * server's settings, so that each request and connection has the same protocol cost; there is no other work.
 */
export async function startBaselineServer(
  responses: RecordedResponses,
  { cert, key }: ServingCertificate,
): Promise<BaselineServer> {
  const app = new Koa();
  app.use((context) => {
    const response = responses.get(responseKey(context.req));
    if (!response) return; // koa responds with 404
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
