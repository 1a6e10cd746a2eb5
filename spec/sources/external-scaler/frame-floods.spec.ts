import type { Socket } from 'node:net';
import { expect } from 'chai';
import { ExternalScalers } from '#lib/sources/external-scaler/external-scalers.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { eventually } from '#spec/support/eventually.ts';
import { ExternalScalerServer } from '#spec/support/external-scaler-server.ts';
import { frame, responseHeaders } from '#spec/support/http2-frames.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RawServer } from '#spec/support/raw-server.ts';

const [EMPTY, ZEROS] = [Buffer.alloc(0), (bytes: number) => Buffer.alloc(bytes)];
const SETTINGS = frame({ type: 4, stream: 0 });
const CALL = 1;
const BEGUN = responseHeaders(CALL, 200);
/** A message of gRPC without any field. */
const TINY_MESSAGE = frame({ type: 0, stream: CALL, payload: ZEROS(5) });
const OBJECT = { name: 'web', namespace: 'default', metadata: {}, secrets: [] };
const FLOOD = /sends more frames than its calls and messages need/;

/** Frames that flow control permits a server to repeat without limit, and what precedes them once. */
const FLOODS: Readonly<Record<string, { readonly first?: Buffer; readonly flood: Buffer }>> = {
  'informational headers': { flood: responseHeaders(CALL, 103) },
  'PING frames': { flood: frame({ type: 6, stream: 0, payload: ZEROS(8) }) },
  'acknowledgements of PING frames': { flood: frame({ type: 6, flags: 1, stream: 0, payload: ZEROS(8) }) },
  'SETTINGS frames': { flood: SETTINGS },
  'WINDOW_UPDATE frames': { flood: frame({ type: 8, stream: 0, payload: Buffer.of(0, 0, 0, 1) }) },
  'WINDOW_UPDATE frames of a stream': {
    flood: frame({ type: 8, stream: CALL, payload: Buffer.of(0, 0, 0, 1) }),
  },
  'PRIORITY frames': { flood: frame({ type: 2, stream: CALL, payload: ZEROS(5) }) },
  'empty DATA frames': { first: BEGUN, flood: frame({ type: 0, stream: CALL, payload: EMPTY }) },
  'ALTSVC frames': { flood: frame({ type: 10, stream: CALL, payload: Buffer.of(0, 0) }) },
  'frames of an unknown type': { flood: frame({ type: 190, stream: 0 }) },
  'messages in response to one request': { first: BEGUN, flood: TINY_MESSAGE },
};

describe('ExternalScalers', () => {
  for (const [what, { first = EMPTY, flood }] of Object.entries(FLOODS))
    for (const how of ['a call', 'a stream'] as const) {
      if (how === 'a stream' && flood === TINY_MESSAGE) continue; // each message is delivered there
      it(`closes the connection of a server that responds to ${how} with ${what} without end`, async () => {
        await using server = await flooding(Buffer.concat([SETTINGS, first]), flood);
        using scalers = newScalers();
        await scalers.begin(how, server.port);
        await eventually(() => server.floodCount === 1 && server.openSockets.length === 0);
        expect(await scalers.failureOf(server.port)).to.match(FLOOD);
        expect(server.floodCount).to.equal(1); // no call meanwhile
      });
    }

  it('closes the connections of a server that ends each of them at once', async () => {
    await using server = await RawServer.start((socket) => socket.end(SETTINGS));
    using scalers = newScalers();
    await scalers.begin('a stream', server.port);
    await eventually(() => server.sockets.length >= 62); // gRPC reconnects without a call
    await new Promise((resolve) => setTimeout(resolve, 50)); // gRPC would have reconnected by then
    expect(server.sockets.length).to.be.below(80);
  });

  it('calls a server again 2 s after its flood, then 4 s, and as usual once it is over', async () => {
    await using server = await flooding(SETTINGS, frame({ type: 6, stream: 0, payload: ZEROS(8) }));
    using scalers = newScalers();
    for (const [waitMs, floods] of [
      [0, 1],
      [1_999, 1],
      [1, 2],
      [3_999, 2],
      [1, 3],
    ] as const) {
      await scalers.clock.advance(waitMs);
      expect(await scalers.failureOf(server.port)).to.match(FLOOD);
      expect(server.floodCount).to.equal(floods);
    }
    const { port } = server;
    await server[Symbol.asyncDispose]();
    await using recovered = await ExternalScalerServer.start({ isActive: true }, { port });
    await scalers.clock.advance(8_000);
    expect(await scalers.isActive(recovered.port)).to.equal(true);
  });

  it('calls a server as often as objects need it, and receives the messages of a stream for a day', async () => {
    await using server = await ExternalScalerServer.start({ isActive: true });
    using scalers = newScalers();
    const stream = await scalers.begin('a stream', server.port);
    await eventually(() => server.streams.size === 1);
    for (let call = 0; call < 500; call++) expect(await scalers.isActive(server.port)).to.equal(true);
    for (let message = 0; message < 50; message++) server.push(true);
    await eventually(() => stream.active === 50);
    expect(server.streams.size).to.equal(1);
  });
});

function newScalers() {
  const clock = new ManualClock();
  const scalers = new ExternalScalers({ clock, allowedHosts: new AllowedHosts(['127.0.0.0/8']) });
  const ended = new AbortController();
  const at = (port: number) => ({ host: '127.0.0.1', port, tls: undefined });
  const isActive = (port: number) => scalers.isActive(at(port), OBJECT, ended.signal);
  return {
    clock,
    isActive,
    failureOf: (port: number) =>
      isActive(port).then(
        () => 'none',
        (error: Error) => `${error.message}: ${(error.cause as Error | undefined)?.message}`,
      ),
    /** Starts it without awaiting its end. */
    async begin(how: 'a call' | 'a stream', port: number) {
      const observed = { active: 0 };
      if (how === 'a call') isActive(port).catch(() => {});
      else
        void scalers.watchActivity(
          at(port),
          { object: OBJECT, onActive: () => observed.active++ },
          ended.signal,
        );
      return observed;
    },
    [Symbol.dispose]() {
      ended.abort(new Error('done'));
      scalers[Symbol.dispose]();
    },
  };
}

/** A server that repeats the same frames once it is called. */
async function flooding(first: Buffer, flood: Buffer) {
  const chunk = Buffer.concat(Array.from({ length: 1_000 }, () => flood));
  let floodCount = 0;
  const server = await RawServer.start((socket) => {
    let received = 0;
    socket.write(SETTINGS);
    socket.on('data', ({ length }: Buffer) => {
      const wasCalled = received > 150;
      received += length;
      if (wasCalled || received <= 150) return; // preface, settings and window are shorter, headers longer
      floodCount++;
      socket.write(first);
      sendOn(socket, chunk);
    });
  });
  return {
    port: server.port,
    get floodCount() {
      return floodCount;
    },
    get openSockets() {
      return server.openSockets;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function sendOn(socket: Socket, chunk: Buffer): void {
  while (!socket.destroyed && socket.write(chunk));
  if (!socket.destroyed) socket.once('drain', () => sendOn(socket, chunk));
}
