import { once } from 'node:events';
import { createServer } from 'node:net';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { listen } from '#lib/apiserver/serving/secure-server.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { requestHttp1, requestHttp2 } from '#spec/support/api-request.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

/** The protocol that a server selects from those that a client offers. */
async function protocolOf(port: number, ...offered: readonly string[]): Promise<string | false | null> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: [...offered] });
  await once(socket, 'secureConnect');
  const { alpnProtocol } = socket;
  socket.destroy();
  return alpnProtocol;
}

describe('createHttpServer', () => {
  it('negotiates HTTP/2 with clients that support it, and HTTP/1.1 with others', async () => {
    await using server = await startTestApiServer();
    const { port } = server.address;
    expect(await protocolOf(port, 'http/1.1', 'h2')).to.equal('h2');
    expect(await protocolOf(port, 'http/1.1')).to.equal('http/1.1');
    expect((await requestHttp2({ port, path: '/version' })).status).to.equal(200);
    expect((await requestHttp1({ port, path: '/version' })).status).to.equal(200);
  });

  it('serves HTTP/1.1 alone if HTTP/2 is disabled', async () => {
    await using server = await startTestApiServer({ maxStreamsPerConnection: 0 });
    const { port } = server.address;
    expect(await protocolOf(port, 'h2', 'http/1.1')).to.equal('http/1.1');
    expect((await requestHttp1({ port, path: '/version' })).status).to.equal(200);
    const refusal = await protocolOf(port, 'h2').catch((error: Error) => error.message);
    expect(refusal).to.contain('no application protocol');
  });
});

describe('listen', () => {
  for (const bindAddress of ['0.0.0.0', '::']) {
    it(`means every address of both families by ${bindAddress}, where the machine has both`, async () => {
      await using server = disposable();
      const { address, family } = await listen(server.server, { bindAddress, port: 0 });
      expect(['::', '0.0.0.0']).to.include(address);
      expect(['IPv6', 'IPv4']).to.include(family);
    });
  }

  it('falls back to IPv4 where there is no IPv6', async () => {
    await using server = disposable();
    const { server: net } = server;
    const requested: string[] = [];
    const original = net.listen.bind(net);
    net.listen = ((options: { host: string; port: number }, onListening: () => void) => {
      requested.push(options.host);
      if (options.host !== '::') return original(options, onListening);
      setImmediate(() => net.emit('error', Object.assign(new Error('no IPv6'), { code: 'EAFNOSUPPORT' })));
      return net;
    }) as typeof net.listen;
    const { address } = await listen(net, { bindAddress: '::', port: 0 });
    expect(requested).to.deep.equal(['::', '0.0.0.0']);
    expect(address).to.equal('0.0.0.0');
  });

  it('listens on the given address only', async () => {
    await using server = disposable();
    expect((await listen(server.server, { bindAddress: '127.1.2.3', port: 0 })).address).to.equal(
      '127.1.2.3',
    );
  });

  it('throws with the address and the reason, each once', async () => {
    await using first = disposable();
    const { port } = await listen(first.server, { bindAddress: '127.0.0.1', port: 0 });
    const messageOf = (bindAddress: string, at: number) =>
      listen(createServer(), { bindAddress, port: at }).catch(describeError);
    expect(await messageOf('127.0.0.1', port)).to.equal(
      `Cannot listen on 127.0.0.1:${port}: address already in use`,
    );
    expect(await messageOf('192.0.2.1', 1)).to.equal(
      'Cannot listen on 192.0.2.1:1: address not available on this machine',
    );
  });
});

function disposable(): AsyncDisposable & { readonly server: ReturnType<typeof createServer> } {
  const server = createServer();
  return {
    server,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}
