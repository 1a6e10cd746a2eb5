import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { ownAddress } from './own-address.ts';

describe('ownAddress', () => {
  afterEach(() => {
    Object.defineProperty(process, 'pid', { value: OURS });
  });
  const OURS = process.pid;

  it('can be listened on, and is constant within a process', async () => {
    const server = createServer().listen(0, ownAddress());
    await once(server, 'listening');
    expect(server.address()).to.include({ address: ownAddress() });
    server.close();
    await once(server, 'close');
  });

  it('differs between processes, up to the highest process ID', () => {
    const pids = [1, 2, 255, 256, 65_535, 65_536, 131_073, 4_194_303];
    const addresses = pids.map((value) => {
      Object.defineProperty(process, 'pid', { value });
      return ownAddress();
    });
    expect(addresses).to.deep.equal([
      ...['127.64.0.1', '127.64.0.2', '127.64.0.255', '127.64.1.0', '127.64.255.255'],
      ...['127.65.0.0', '127.66.0.1', '127.127.255.255'],
    ]);
  });
});
