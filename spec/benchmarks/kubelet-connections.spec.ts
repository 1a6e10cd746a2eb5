import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect } from 'chai';
import { parseConnectionsTo, readKubeletConnections } from './kubelet-connections.ts';

describe('parseConnectionsTo', () => {
  it('finds those that are open, from the side that made them', () => {
    const rest = '00000000:00000000 00:00000000 00000000     0        0';
    const table = [
      '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
      `   0: 0100017F:280A 00000000:0000 0A ${rest} 11 1`, // listening
      `   1: 0100007F:C350 0100017F:280A 01 ${rest} 12 1`,
      `   2: 0100017F:280A 0100007F:C350 01 ${rest} 13 1`, // the kubelet's end
      `   3: 0100007F:C351 0200017F:280A 06 ${rest} 0 1`, // closed
      `   4: 0100007F:1F90 0100007F:280A 01 ${rest} 14 1`, // an unrelated client whose port happens to be the kubelets'
    ];
    expect([...parseConnectionsTo(10_250, `${table.join('\n')}\n`)]).to.deep.equal([
      ['12', '0100007F:C350 0100017F:280A'],
    ]);
  });
});

describe('readKubeletConnections', () => {
  it('counts connections of the process, and none of another', async function () {
    if (process.platform !== 'linux') this.skip();
    const server = createServer().listen(0, '127.1.0.1');
    await once(server, 'listening');
    const { port: kubeletPort } = server.address() as AddressInfo;
    const socket = connect(kubeletPort, '127.1.0.1');
    await once(socket, 'connect');
    expect(readKubeletConnections({ pid: process.pid, kubeletPort })).to.have.lengthOf(1);
    expect(readKubeletConnections({ pid: process.ppid, kubeletPort })).to.have.lengthOf(0);
    socket.destroy();
    server.close();
  });
});
