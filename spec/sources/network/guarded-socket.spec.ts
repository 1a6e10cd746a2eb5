import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { dial } from '#lib/sources/network/guarded-socket.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { eventually } from '#spec/support/eventually.ts';
import { TestAuthority } from '#spec/support/issued-certificates.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { RawServer } from '#spec/support/raw-server.ts';

describe('dial', () => {
  const allowedHosts = new AllowedHosts(['127.0.0.1']);

  it('does not connect if the signal has aborted', async () => {
    await using server = await LoopbackServer.start((_, response) => void response.end());
    const gone = AbortSignal.abort(new Error('nobody waits any more'));
    for (const tls of [undefined, { isUnverified: true }]) {
      const options = { host: '127.0.0.1', port: Number(server.url.port), tls, allowedHosts };
      expect(await errorOf(dial(options, gone))).to.equal('nobody waits any more');
    }
    expect(await server.connectionCount()).to.equal(0);
  });

  for (const handshake of [true, false])
    it(`aborts ${handshake ? 'a handshake' : 'connecting'} with its signal, without failures of others`, async () => {
      await using server = await RawServer.start((socket) => socket.resume());
      const uncaught: unknown[] = [];
      const record = (error: unknown) => void uncaught.push(error);
      process.on('uncaughtExceptionMonitor', record);
      const leaving = new AbortController();
      const options = { host: '127.0.0.1', port: server.port, tls: { isUnverified: true }, allowedHosts };
      const outcome = errorOf(dial(options, leaving.signal));
      if (handshake) await eventually(() => server.openSockets.length === 1);
      leaving.abort(new Error('the deadline has passed'));
      expect(await outcome).to.equal('the deadline has passed');
      await eventually(() => server.openSockets.length === 0);
      process.off('uncaughtExceptionMonitor', record);
      expect(uncaught).to.deep.equal([]);
    });

  for (const [host, name] of [
    ['localhost', 'localhost'],
    ['127.0.0.1', false], // an address is not a server name
  ] as const)
    it(`requests the certificate of ${name || 'no name'} from the server at ${host}`, async () => {
      await using server = await tlsServer();
      const options = { ...server.options, host, tls: { ca: server.ca, isUnverified: name === false } };
      const accepted = once(server.listening, 'secureConnection');
      const { destroy } = await dial(options, new AbortController().signal);
      const [socket] = (await accepted) as [TLSSocket];
      expect(socket.servername).to.equal(name);
      destroy();
    });

  it('rejects a certificate of an unknown authority or another host unless verification is disabled', async () => {
    await using server = await tlsServer();
    const { signal } = new AbortController();
    const at = (host: string, tls: { readonly ca?: string; readonly isUnverified: boolean }) =>
      dial({ ...server.options, host, tls }, signal);
    expect(await errorOf(at('localhost', { isUnverified: false }))).to.match(/certificate/);
    expect(await errorOf(at('127.0.0.1', { ca: server.ca, isUnverified: false }))).to.match(
      /IP: 127\.0\.0\.1/,
    );
    for (const host of ['localhost', '127.0.0.1']) (await at(host, { isUnverified: true })).destroy();
  });
});

/** Has a certificate of localhost. */
async function tlsServer() {
  const authority = new TestAuthority('authority');
  const { cert, key } = authority.leaf({ names: ['localhost'], usages: ['serverAuth'] });
  const listening = createServer({ cert, key }, (socket) => socket.on('error', () => {}));
  const sockets = new Set<Socket>();
  listening.on('connection', (socket: Socket) => sockets.add(socket));
  listening.on('tlsClientError', () => {}); // clients that do not trust it disconnect
  await once(listening.listen(0, '127.0.0.1'), 'listening');
  const { port } = listening.address() as AddressInfo;
  const findAddresses = async () => ['127.0.0.1'];
  const allowedHosts = new AllowedHosts(['127.0.0.1', 'localhost']);
  return {
    ...{ listening, ca: authority.pem, options: { port, allowedHosts, findAddresses } },
    async [Symbol.asyncDispose](): Promise<void> {
      const closed = once(listening, 'close');
      listening.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
