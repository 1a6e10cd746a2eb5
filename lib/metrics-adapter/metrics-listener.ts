import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { ConnectionGate, guardConnections } from '#lib/apiserver/serving/connection-gate.ts';
import { PipelineLimit } from '#lib/apiserver/serving/request-limits.ts';
import type { ListenAddress } from '#lib/flags/listen-address.ts';
import type { Clock } from '#lib/time/clock.ts';

const CONNECTION_LIMITS = { connections: 64, handshakes: undefined };

/** A slower request is cut off; Node would check for such twice a minute. */
const REQUEST_TIMEOUTS = {
  ...{ headersTimeout: 10_000, requestTimeout: 10_000 },
  ...{ connectionsCheckingInterval: 1_000, maxHeaderSize: 16 * 1024 },
};

/** For a response to be made and read, including the wait for earlier ones on its connection. */
const RESPONSE_TIMEOUT_MS = 10_000;

/**
 * Serves series over plain HTTP to every client, as kube-metrics-adapter does. Concurrent requests share one response;
 * a client that does not read in time, or sends requests without reading, is cut off. When there are too many
 * connections, the address with the most loses its oldest.
 *
 * @throws when it cannot listen on the address
 */
export async function listenForMetrics(
  { host, port }: ListenAddress,
  { registry, clock }: { readonly registry: Registry; readonly clock: Clock },
): Promise<AsyncDisposable & { readonly port: number }> {
  const { createServer } = await import('node:http'); // lazily: it loads fetch and WebSocket of Node
  const pipelines = new PipelineLimit(() => {});
  let writing: Promise<string> | undefined;
  const series = () => {
    writing ??= registry.metrics().finally(() => {
      writing = undefined;
    });
    return writing;
  };
  const server = createServer(REQUEST_TIMEOUTS, async (request, response) => {
    request.resume();
    if (!pipelines.enter(request.socket)) return;
    limitResponse(response, clock, () => pipelines.leave(request.socket));
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const path = request.url?.split('?', 1)[0];
    if (path !== '/metrics' || !isRead) return void response.writeHead(isRead ? 404 : 405).end();
    try {
      const text = await series();
      response.writeHead(200, { 'content-type': registry.contentType }).end(text);
    } catch {
      response.writeHead(500).end();
    }
  });
  const gate = new ConnectionGate({
    ...{ limits: CONNECTION_LIMITS, waitMs: REQUEST_TIMEOUTS.headersTimeout, clock },
    reservedFor: () => 0,
    onRefused: () => {},
  });
  guardConnections(server, gate);
  server.listen({ port, ...(host === undefined ? {} : { host }) });
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Cuts the connection off if the response is not finished in time, whether it is not made or not read. */
function limitResponse(response: ServerResponse, clock: Clock, onOver: () => void): void {
  const { socket } = response.req;
  const timer = clock.startTimer(RESPONSE_TIMEOUT_MS, () => socket.destroy());
  response.once('close', () => {
    timer[Symbol.dispose]();
    onOver();
  });
}
