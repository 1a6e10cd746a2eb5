import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { expect } from 'chai';
import { BackendConnection } from '#simulator/api-server/backend-connection.ts';

describe('BackendConnection', () => {
  it('leaves no connection that was being opened when it was closed', async () => {
    await using server = net.createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const backend = new BackendConnection({ host: '127.0.0.1', port, rejectUnauthorized: false });
    const accepted = once(server, 'connection');
    const outcome = backend
      .request({ method: 'GET', path: '/', headers: {}, signal: new AbortController().signal })
      .catch((error: unknown) => error);
    const [connection] = (await accepted) as [net.Socket];
    connection.resume(); // the handshake never completes
    backend.close();
    await once(connection, 'close');
    expect(await outcome)
      .to.be.an('error')
      .with.property('name', 'AbortError');
  });
});
