import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { Gauge, Registry } from 'prom-client';
import { makeSelfSignedCertificate } from '#lib/apiserver/serving/self-signed-certificate.ts';
import { listenForMetrics } from '#lib/metrics-adapter/metrics-listener.ts';
import { startWebhookServer } from '#lib/scaled-objects/validation/webhook-server.ts';
import { systemClock } from '#lib/time/clock.ts';
import { eventually } from '#spec/support/eventually.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

/** A listener under test, and how to make a valid request to it. */
interface Listener extends AsyncDisposable {
  readonly port: number;
  readonly isTls: boolean;
  /** Maximum number of its connections. */
  readonly limit: number;
  readonly request: { readonly line: string; readonly body?: string };
}

type Dial = (listener: Listener) => Promise<Socket>;

const LIMITS = { connections: 24, handshakes: 4 };
const REVIEWED = '/validate-keda-sh-v1alpha1-scaledobject';

const LISTENERS: Readonly<Record<string, () => Promise<Listener>>> = {
  'the API server': async () => {
    const server = await startTestApiServer({ connectionLimits: LIMITS });
    const request = { line: 'GET /livez HTTP/1.1' };
    return {
      ...{ port: server.address.port, isTls: true, limit: LIMITS.connections, request },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
  'the webhook': async () => {
    const server = await startWebhookServer({
      ...{ host: '127.0.0.1', port: 0, clock: systemClock, logger: new RecordingLogger() },
      ...{ connectionLimits: LIMITS, admission: { paths: new Set([REVIEWED]), review: async () => ({}) } },
      certificates: { current: await makeSelfSignedCertificate(Date.now()), named: [], onChange: () => {} },
    });
    const request = { line: `POST ${REVIEWED} HTTP/1.1`, body: '{}' };
    return {
      ...{ port: server.port, isTls: true, limit: LIMITS.connections, request },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
  'the metrics listener': async () => {
    const registry = new Registry();
    new Gauge({ name: 'things', help: 'Things.', registers: [registry] });
    const server = await listenForMetrics({ host: '127.0.0.1', port: 0 }, { registry, clock: systemClock });
    const request = { line: 'GET /metrics HTTP/1.1' };
    return {
      ...{ port: server.port, isTls: false, limit: 64, request },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
};

/** Types of connections that one address opens. */
const WAYS: Readonly<Record<string, Dial>> = {
  'that send nothing': (listener) => dial(listener, GREEDY),
  'whose TLS handshakes do not go on': async (listener) => {
    const socket = await dial(listener, GREEDY);
    socket.write(Buffer.of(22, 3, 1, 2, 0)); // the head of a TLS record
    return socket;
  },
  'that send no request': (listener) => dialSecurely(listener, GREEDY),
  'that send part of the headers': async (listener) => {
    const socket = await dialSecurely(listener, GREEDY);
    socket.write(`${listener.request.line}\r\nHost: a`);
    return socket;
  },
  'that send part of the body': async (listener) => {
    const socket = await dialSecurely(listener, GREEDY);
    socket.write(message({ ...listener.request, contentLength: 1_000_000 }));
    return socket;
  },
  'that are idle after a request': async (listener) => {
    const socket = await dialSecurely(listener, GREEDY);
    socket.write(message(listener.request));
    await eventOrClose(socket, 'data');
    return socket;
  },
  'of HTTP/2 that have no streams': async (listener) => {
    const socket = await dialSecurely(listener, GREEDY, ['h2']);
    connectHttp2('https://a', { createConnection: () => socket }).on('error', () => {});
    return socket;
  },
};

const [GREEDY, OTHER] = ['127.0.0.2', '127.0.0.3'];

describe('An address that opens the maximum number of connections', () => {
  for (const [what, start] of Object.entries(LISTENERS))
    for (const [how, open] of Object.entries(WAYS)) {
      if (what !== 'the API server' && how.includes('HTTP/2')) continue;
      if (what === 'the metrics listener' && how.includes('TLS')) continue;
      it(`${how} does not keep another address from ${what}`, async () => {
        await using listener = await start();
        using sockets = new DisposableStack();
        const opened = await Promise.all(
          Array.from({ length: listener.limit + 8 }, async () => {
            const socket = await open(listener);
            sockets.defer(() => socket.destroy());
            return socket;
          }),
        );
        await eventually(() => opened.some(({ closed }) => closed)); // the server does not accept all of them
        for (let request = 0; request < 3; request++)
          expect(await statusOf(listener)).to.match(/^HTTP\/1\.1 200 /);
      });
    }
});

async function statusOf(listener: Listener): Promise<string> {
  const socket = await dialSecurely(listener, OTHER);
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.write(message(listener.request));
  await eventOrClose(socket, 'data');
  socket.destroy();
  return received;
}

function message({
  line,
  body = '',
  contentLength = body.length,
}: Listener['request'] & { readonly contentLength?: number }): string {
  const headers = ['Host: a', 'Content-Type: application/json', `Content-Length: ${contentLength}`];
  return [line, ...headers, '', body].join('\r\n');
}

function eventOrClose(socket: Socket, event: string): Promise<void> {
  if (socket.destroyed) return Promise.resolve();
  return new Promise((resolve) => socket.once(event, resolve).once('close', () => resolve()));
}

/** Connections that the server closes immediately count as opened. */
async function dial({ port }: Listener, localAddress: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {});
  socket.resume();
  await eventOrClose(socket, 'connect');
  return socket;
}

/** Uses TLS if the listener does. */
async function dialSecurely(
  listener: Listener,
  localAddress: string,
  ALPNProtocols?: string[],
): Promise<Socket> {
  const raw = await dial(listener, localAddress);
  if (!listener.isTls) return raw;
  raw.pause();
  const secure = connectTls({
    socket: raw,
    rejectUnauthorized: false,
    ...(ALPNProtocols && { ALPNProtocols }),
  });
  secure.on('error', () => {}).resume();
  raw.once('close', () => secure.destroy());
  await eventOrClose(secure, 'secureConnect');
  return secure;
}
