import { once } from 'node:events';
import net from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { KubeletConnection } from '#lib/resource-metrics/scrape/kubelet/kubelet-connection.ts';
import { ResponseMemory } from '#lib/resource-metrics/scrape/kubelet/response-memory.ts';
import { eventually } from '#spec/support/eventually.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { httpResponse, RawServer, responding } from '#spec/support/raw-server.ts';

const never = new AbortController().signal;

async function connect(server: RawServer, memory = new ResponseMemory(new ManualClock())) {
  const clock = new ManualClock();
  const socket = net.connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  const connection = new KubeletConnection(socket, {
    clock,
    host: 'kubelet:10250',
    maxResponseBytes: 2 ** 26,
    memory,
  });
  const request = (path = '/', options: { signal?: AbortSignal; authorization?: string } = {}) =>
    connection
      .get({ path, signal: options.signal ?? never, authorization: options.authorization, read: String })
      .catch((error: Error) => error.message);
  return { request, connection, [Symbol.dispose]: () => connection.close() };
}

describe('KubeletConnection', () => {
  it('sends concurrent requests one at a time', async () => {
    const received: string[] = [];
    await using server = await RawServer.start((socket) =>
      socket.on('data', (data) => {
        received.push(
          ...String(data)
            .matchAll(/GET (\S+)/g)
            .map(([, path]) => path ?? ''),
        );
        setImmediate(() => socket.write(httpResponse(`${received.length}`)));
      }),
    );
    using kubelet = await connect(server);
    expect(await Promise.all(['/a', '/b', '/c'].map((path) => kubelet.request(path)))).to.deep.equal([
      '1',
      '2',
      '3',
    ]);
    expect(received).to.deep.equal(['/a', '/b', '/c']);
  });

  it('continues after a response that cannot be read', async () => {
    await using server = await RawServer.start(responding(httpResponse('what')));
    using kubelet = await connect(server);
    const read = () => {
      throw new Error('unreadable');
    };
    const request = { path: '/', signal: never, authorization: undefined, read };
    expect(await kubelet.connection.get(request).catch((error: Error) => error.message)).to.equal(
      'unreadable',
    );
    expect(kubelet.connection.isOpen).to.equal(true);
    expect(await kubelet.request()).to.equal('what');
  });

  it('continues after a complete error response', async () => {
    let requests = 0;
    await using server = await RawServer.start((socket) =>
      socket.on('data', () => {
        requests++;
        socket.write(requests === 1 ? httpResponse('no', { status: '404 Not Found' }) : httpResponse('yes'));
      }),
    );
    using kubelet = await connect(server);
    expect(await kubelet.request()).to.equal('HTTP status 404: no');
    expect(await kubelet.request()).to.equal('yes');
  });

  it('closes on unexpected data', async () => {
    await using server = await RawServer.start(responding(httpResponse('received')));
    using kubelet = await connect(server);
    expect(await kubelet.request()).to.equal('received');
    server.sockets[0]?.write('HTTP/1.1 408 Request Timeout\r\n\r\n');
    await eventually(() => !kubelet.connection.isOpen);
    expect(await kubelet.request()).to.match(/^the kubelet closed the connection/);
  });

  it('remains open between requests', async () => {
    await using server = await RawServer.start(responding(httpResponse('1')));
    using kubelet = await connect(server);
    mock.timers.enable({ apis: ['setTimeout'] }); // undici has no injectable clock
    try {
      for (let request = 1; request <= 3; request++) {
        expect(await kubelet.request()).to.equal('1');
        await new Promise((resolve) => setImmediate(resolve)); // undici is idle
        mock.timers.tick(86_400_000);
        expect(kubelet.connection.isOpen, `a day after request ${request}`).to.equal(true);
      }
    } finally {
      mock.timers.reset();
    }
  });

  it('receives a very long response completely', async () => {
    const body = 'x'.repeat(40 * 2 ** 20);
    await using server = await RawServer.start(responding(httpResponse(body)));
    using kubelet = await connect(server);
    expect((await kubelet.request()).length).to.equal(body.length);
    expect(await kubelet.request()).to.have.length(body.length);
  });

  describe('when the response waits for memory', () => {
    /** Requests 300 kB while other responses use all memory, and counts pauses of the timeout. */
    const requestWhileAllAreInUse = async (server: RawServer, signal = never) => {
      const memory = new ResponseMemory(new ManualClock(), 2 ** 20);
      const others = ['first', 'second'].map(() => memory.open({ onReserved() {}, onEvicted() {} }));
      for (const other of others) other.reserve(2 ** 20);
      const kubelet = await connect(server, memory);
      const pauses = { begun: 0, ended: 0 };
      const pause = () => {
        pauses.begun++;
        return { [Symbol.dispose]: () => void pauses.ended++ };
      };
      const response = kubelet.connection
        .get({ path: '/', signal, authorization: undefined, read: String, pause })
        .then(
          ({ length }) => length,
          (error: Error) => error.message,
        );
      await eventually(() => pauses.begun > 0);
      return { others, pauses, response, [Symbol.dispose]: () => kubelet[Symbol.dispose]() };
    };

    it('pauses the timeout until it gets the memory', async () => {
      await using server = await RawServer.start(responding(httpResponse('x'.repeat(300_000))));
      using waiting = await requestWhileAllAreInUse(server);
      expect(waiting.pauses).to.deep.equal({ begun: 1, ended: 0 });
      for (const other of waiting.others) other[Symbol.dispose]();
      expect(waiting.pauses).to.deep.equal({ begun: 1, ended: 1 });
      expect(await waiting.response).to.equal(300_000);
    });

    it('resumes the timeout when it is disposed', async () => {
      await using server = await RawServer.start(responding(httpResponse('x'.repeat(300_000))));
      const aborting = new AbortController();
      using waiting = await requestWhileAllAreInUse(server, aborting.signal);
      aborting.abort(new Error('the cycle ended'));
      expect(await waiting.response).to.equal('the cycle ended');
      expect(waiting.pauses).to.deep.equal({ begun: 1, ended: 1 });
    });
  });

  it('ends when the signal aborts, with its reason', async () => {
    await using server = await RawServer.start(responding('HTTP/1.1 200 OK\r\n'));
    using kubelet = await connect(server);
    const aborting = new AbortController();
    const response = kubelet.request('/', { signal: aborting.signal });
    await eventually(() => (server.sockets[0]?.bytesWritten ?? 0) > 0);
    aborting.abort(new Error('too late'));
    expect(await response).to.equal('too late');
    expect(kubelet.connection.isOpen).to.equal(false);
    expect(await kubelet.request('/', { signal: aborting.signal })).to.equal('too late');
  });

  it('rejects paths and headers that could inject requests', async () => {
    await using server = await RawServer.start(responding(httpResponse('1')));
    using kubelet = await connect(server);
    for (const path of ['/a b', '/a\r\nX: y', 'a', '', '/\u0100']) {
      expect(await kubelet.request(path)).to.match(/path/);
    }
    const forged = await kubelet.request('/', { authorization: 'Bearer secret\r\nX: y' });
    expect(forged).to.equal('invalid authorization header');
    expect(await kubelet.request()).to.equal('1');
    const head = 'GET / HTTP/1.1\r\nhost: kubelet:10250\r\nconnection: keep-alive\r\n\r\n';
    expect(server.sockets[0]?.bytesRead).to.equal(head.length);
  });
});
