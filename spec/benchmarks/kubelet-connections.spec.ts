import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect } from 'chai';
import { parseConnectionsTo, readKubeletConnections } from './kubelet-connections.ts';

describe('parseConnectionsTo', () => {
  it('finds those that are open, from the side that made them', () => {
    const table = [
      '  sl  local_address rem_address   st tx_queue rx_queue',
      '   0: 0100017F:280A 00000000:0000 0A 00000000:00000000', // listens
      '   1: 0100007F:C350 0100017F:280A 01 00000000:00000000',
      '   2: 0100017F:280A 0100007F:C350 01 00000000:00000000', // the kubelet's side of it
      '   3: 0100007F:C351 0200017F:280A 06 00000000:00000000', // is over
    ];
    expect([...parseConnectionsTo(10_250, `${table.join('\n')}\n`)]).to.deep.equal([
      '0100007F:C350 0100017F:280A',
    ]);
  });
});

describe('readKubeletConnections', () => {
  it('knows a connection of this process', async function () {
    if (process.platform !== 'linux') this.skip();
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    expect(readKubeletConnections(port)).to.have.lengthOf(1);
    socket.destroy();
    server.close();
  });
});
