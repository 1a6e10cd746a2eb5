import { once } from 'node:events';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { requestHttp1, requestHttp2 } from '#spec/support/api-request.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

/** What a server takes up of the protocols that a client offers. */
async function protocolOf(port: number, ...offered: readonly string[]): Promise<string | false | null> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: [...offered] });
  await once(socket, 'secureConnect');
  const { alpnProtocol } = socket;
  socket.destroy();
  return alpnProtocol;
}

describe('createHttpServer', () => {
  it('speaks HTTP/2 to who can, and HTTP/1.1 to the others', async () => {
    await using server = await startTestApiServer();
    const { port } = server.address;
    expect(await protocolOf(port, 'http/1.1', 'h2')).to.equal('h2');
    expect(await protocolOf(port, 'http/1.1')).to.equal('http/1.1');
    expect((await requestHttp2({ port, path: '/version' })).status).to.equal(200);
    expect((await requestHttp1({ port, path: '/version' })).status).to.equal(200);
  });

  it('speaks HTTP/1.1 alone where no HTTP/2 is wanted', async () => {
    await using server = await startTestApiServer({ maxStreamsPerConnection: 0 });
    const { port } = server.address;
    expect(await protocolOf(port, 'h2', 'http/1.1')).to.equal('http/1.1');
    expect((await requestHttp1({ port, path: '/version' })).status).to.equal(200);
    const refusal = await protocolOf(port, 'h2').catch((error: Error) => error.message);
    expect(refusal).to.contain('no application protocol');
  });
});
