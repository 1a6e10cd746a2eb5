import type net from 'node:net';
import type tls from 'node:tls';
import { expect } from 'chai';
import { Semaphore } from '#lib/concurrency/semaphore.ts';
import { NameResolver } from '#lib/dns/name-resolver.ts';
import { Dialer, type KubeletTls } from '#lib/resource-metrics/scrape/kubelet/dialer.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RawServer, serverCertificate } from '#spec/support/raw-server.ts';
import { until } from '#spec/support/until.ts';

const never = new AbortController().signal;
const certificate = serverCertificate('127.0.0.1', 'kubelet.test');

function setup({ tls, handshakes = 64 }: { readonly tls?: KubeletTls; readonly handshakes?: number } = {}) {
  const clock = new ManualClock();
  const resolver = new NameResolver({
    clock,
    timeoutMs: 3000,
    hosts: async () => '127.0.0.1 kubelet.test other.test',
    resolvConf: async () => '',
  });
  const permits = new Semaphore(handshakes);
  const dialer = new Dialer({
    clock,
    resolver,
    handshakes: permits,
    tls: tls && (() => tls),
    dialTimeoutMs: 3000,
  });
  const dial = (port: number, host = '127.0.0.1') => dialer.dial({ host, port }, { signal: never });
  const failure = (port: number, host?: string) =>
    dial(port, host).then(
      () => 'connected',
      (error: Error & { code?: string }) => error.code ?? error.message,
    );
  return { clock, dial, dialer, failure };
}

describe('Dialer', () => {
  it('opens a plain connection without TLS', async () => {
    await using server = await RawServer.start((socket) => socket.end('hello'));
    const socket = await setup().dial(server.port);
    expect(String(await socket.toArray())).to.equal('hello');
  });

  it('verifies the certificate by authority and host, for addresses and names', async () => {
    await using server = await RawServer.start((socket) => socket.end(), { tls: certificate.tls });
    const { dial, failure } = setup({ tls: { ca: certificate.ca } });
    for (const host of ['127.0.0.1', 'kubelet.test']) {
      const socket = (await dial(server.port, host)) as tls.TLSSocket;
      expect(socket.authorized).to.equal(true);
      socket.destroy();
    }
    expect(await failure(server.port, 'other.test')).to.equal('CERT_OF_ANOTHER_NAME');
    const refusal = await dial(server.port, 'other.test').catch((error: Error) => error.message);
    expect(refusal).to.match(
      /^its certificate is valid for 127\.0\.0\.1, kubelet\.test, not for other\.test; issue the kubelet/,
    );
    expect(await setup({ tls: {} }).failure(server.port)).to.equal('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    expect(await setup({ tls: { rejectUnauthorized: false } }).failure(server.port, 'other.test')).to.equal(
      'connected',
    );
  });

  it('accepts a verified certificate that names the node or another of its addresses', async () => {
    const named = serverCertificate('node-a');
    await using server = await RawServer.start((socket) => socket.end(), { tls: named.tls });
    const dial = (alternativeNames: readonly string[], tls: KubeletTls) =>
      setup({ tls })
        .dialer.dial({ host: '127.0.0.1', port: server.port, alternativeNames }, { signal: never })
        .then(
          (socket) => (socket as tls.TLSSocket).authorized,
          (error: Error & { code?: string }) =>
            alternativeNames.includes('node-a') ? error.code : error.message,
        );
    expect(await dial(['10.0.0.7', 'node-a'], { ca: named.ca })).to.equal(true);
    expect(await dial(['node-b'], { ca: named.ca })).to.match(
      /^its certificate is valid for node-a, not for 127\.0\.0\.1, node-b;/,
    );
    expect(await dial(['node-a'], { ca: certificate.ca })).to.equal('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
  });

  it('sends SNI only for host names', async () => {
    const names: (string | false)[] = [];
    await using server = await RawServer.start(
      (socket) => {
        names.push((socket as tls.TLSSocket).servername ?? false);
        socket.end();
      },
      { tls: certificate.tls },
    );
    const { dial } = setup({ tls: { ca: certificate.ca } });
    for (const host of ['kubelet.test', '127.0.0.1']) await (await dial(server.port, host)).toArray();
    expect(names).to.deep.equal(['kubelet.test', false]);
  });

  it('parses credentials once until they change', async () => {
    await using server = await RawServer.start((socket) => socket.end(), { tls: certificate.tls });
    let readCount = 0;
    const given: KubeletTls = {
      get ca() {
        readCount++;
        return certificate.ca;
      },
    };
    const { dial } = setup({ tls: given });
    for (let dialled = 0; dialled < 3; dialled++) (await dial(server.port)).destroy();
    expect(readCount).to.equal(1);
  });

  it('uses the current credentials', async () => {
    await using server = await RawServer.start((socket) => socket.end(), { tls: certificate.tls });
    const clock = new ManualClock();
    const none = async () => '';
    let tls: KubeletTls = { ca: serverCertificate('other').ca };
    const dialer = new Dialer({
      clock,
      resolver: new NameResolver({ clock, timeoutMs: 3000, hosts: none, resolvConf: none }),
      handshakes: new Semaphore(64),
      tls: () => tls,
      dialTimeoutMs: 3000,
    });
    const dial = () =>
      dialer.dial({ host: '127.0.0.1', port: server.port }, { signal: never }).then(
        () => 'connected',
        (error: Error & { code?: string }) => error.code,
      );
    expect(await dial()).to.equal('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    tls = { ca: certificate.ca };
    expect(await dial()).to.equal('connected');
  });

  it('rejects at once if nothing listens', async () => {
    const gone = await RawServer.start(() => {});
    const { port } = gone;
    await gone[Symbol.asyncDispose]();
    expect(await setup().failure(port)).to.equal('ECONNREFUSED');
  });

  it('rejects if the kubelet closes the connection during the handshake', async () => {
    await using server = await RawServer.start((socket) => socket.destroy());
    expect(await setup({ tls: {} }).failure(server.port)).to.be.oneOf([
      'ECONNRESET',
      'the kubelet closed the connection during the TLS handshake',
    ]);
  });

  it('times out on a silent kubelet, and closes the connection', async () => {
    await using server = await RawServer.start((socket) => socket.resume());
    const { clock, failure } = setup({ tls: {} });
    const failed = failure(server.port);
    await until(clock, () => clock.sleeperCount === 2 && server.sockets.length === 1);
    await clock.advance(3000);
    expect(await failed).to.equal('no TLS handshake within 3s');
    await until(clock, () => server.sockets[0]?.closed === true);
    expect(clock.sleeperCount).to.equal(0);
  });

  it('is not blocked by silent kubelets', async () => {
    const silent: net.Socket[] = [];
    await using hanging = await RawServer.start((socket) => silent.push(socket));
    await using healthy = await RawServer.start((socket) => socket.end(), { tls: certificate.tls });
    const { clock, failure } = setup({ tls: { ca: certificate.ca }, handshakes: 1 });
    const first = failure(hanging.port);
    await until(clock, () => silent.length === 1);
    const second = failure(healthy.port);
    for (let tick = 0; tick < 20; tick++) await clock.advance(0); // connected, and waiting for its handshake
    await clock.advance(250); // the permit of the silent kubelet has expired
    expect(await second).to.equal('connected');
    await clock.advance(2750);
    expect(await first).to.equal('no TLS handshake within 3s');
    expect(clock.sleeperCount).to.equal(0);
  });

  it('releases the permit after each handshake', async () => {
    await using healthy = await RawServer.start((socket) => socket.end(), { tls: certificate.tls });
    await using broken = await RawServer.start((socket) => socket.destroy());
    const { failure } = setup({ tls: { ca: certificate.ca }, handshakes: 1 });
    expect(await failure(healthy.port)).to.equal('connected');
    expect(await failure(broken.port)).to.not.equal('connected');
    expect(await failure(healthy.port)).to.equal('connected');
  });

  it('limits connection and handshake together', async () => {
    await using server = await RawServer.start((socket) => socket.resume());
    const { clock, failure } = setup({ tls: {} });
    const failed = failure(server.port);
    for (let step = 0; step < 10; step++) await null; // dialing, before any event
    await clock.jump(2000);
    await until(clock, () => clock.sleeperCount === 2 && server.sockets.length === 1);
    await clock.advance(999);
    expect(clock.sleeperCount).to.equal(1);
    await clock.advance(1);
    expect(await failed).to.equal('no TLS handshake within 3s');
  });

  it('closes the connection when the signal aborts while waiting for a permit', async () => {
    await using hanging = await RawServer.start((socket) => socket.resume());
    await using healthy = await RawServer.start((socket) => socket.resume());
    const { clock, dialer, failure } = setup({ tls: {}, handshakes: 1 });
    const first = failure(hanging.port);
    await until(clock, () => clock.sleeperCount === 2);
    const aborting = new AbortController();
    const dialled = dialer
      .dial({ host: '127.0.0.1', port: healthy.port }, { signal: aborting.signal })
      .catch((error: Error) => error.message);
    await until(clock, () => healthy.sockets.length === 1 && clock.sleeperCount === 2);
    for (let tick = 0; tick < 20; tick++) await clock.advance(0); // connected, and waiting
    aborting.abort(new Error('the cycle ended'));
    expect(await dialled).to.equal('the cycle ended');
    await until(clock, () => healthy.openSockets.length === 0);
    await clock.advance(3000);
    await first;
  });

  for (const [how, close, words] of [
    [
      'closes',
      (socket: net.Socket) => socket.end(),
      'the kubelet closed the connection before the TLS handshake',
    ],
    ['resets', (socket: net.Socket) => socket.resetAndDestroy(), 'ECONNRESET'],
  ] as const) {
    it(`rejects if the kubelet ${how} the connection while waiting for a permit`, async () => {
      await using hanging = await RawServer.start((socket) => socket.resume());
      await using leaving = await RawServer.start((socket) => socket.resume());
      const { clock, failure } = setup({ tls: {}, handshakes: 1 });
      const first = failure(hanging.port);
      await until(clock, () => clock.sleeperCount === 2);
      const second = failure(leaving.port);
      await until(clock, () => leaving.sockets.length === 1 && clock.sleeperCount === 2);
      for (const socket of leaving.sockets) close(socket);
      await until(clock, () => leaving.openSockets.length === 0);
      for (let tick = 0; tick < 20; tick++) await clock.advance(0); // the event has arrived
      await clock.advance(250); // it has its permit
      expect(await second).to.equal(words);
      expect(clock.monotonicMs()).to.equal(250);
      await clock.advance(2750);
      await first;
    });
  }

  it('leaves no listener of the caller on an open connection', async () => {
    await using server = await RawServer.start((socket) => socket.resume(), { tls: certificate.tls });
    const socket = await setup({ tls: { ca: certificate.ca } }).dial(server.port);
    expect(socket.listenerCount('close')).to.be.at.most(1); // Node's own
    expect(socket.listenerCount('error')).to.equal(1); // permanent, so that no error is unhandled
    socket.destroy();
  });

  it("rejects with the reason of the caller's signal", async () => {
    await using server = await RawServer.start(() => {});
    const { dialer, clock } = setup({ tls: {} });
    const aborting = new AbortController();
    const dialled = dialer
      .dial({ host: '127.0.0.1', port: server.port }, { signal: aborting.signal })
      .catch((error: Error) => error.message);
    await until(clock, () => server.sockets.length === 1);
    aborting.abort(new Error('the cycle ended'));
    expect(await dialled).to.equal('the cycle ended');
  });
});
