import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { skip } from '#spec/support/machine-programs.ts';
import { freePort } from './free-port.ts';

describe('freePort', () => {
  it('returns no ephemeral port', async function () {
    const range = await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'latin1').catch(() => '32768');
    if (Number(range.split(/\s/)[0]) < 10_100) {
      return skip(this, 'the kernel of this machine hands out all ports');
    }
    const kernels = createServer().listen(0, '127.0.0.1');
    await once(kernels, 'listening');
    const [port, address] = [await freePort(), kernels.address()];
    kernels.close();
    expect(port).to.be.at.least(10_000);
    expect(typeof address === 'object' && address?.port).to.be.above(port);
  });

  it('returns another one each time, and none that is in use', async () => {
    const taken = createServer().listen((await freePort()) + 1, '127.0.0.1');
    await once(taken, 'listening').catch(() => {}); // another process has the port already, which is equivalent
    const address = taken.address();
    const given = [await freePort(), await freePort(), await freePort()];
    taken.close();
    expect(new Set(given)).to.have.length(3);
    expect(given).not.to.include(typeof address === 'object' && address?.port);
  });

  it('reserves its hundred ports while this process runs', async () => {
    const first = Math.floor((await freePort()) / 100) * 100;
    const other = createServer().listen(first, '127.0.0.1');
    const error = await once(other, 'listening').catch((reason: NodeJS.ErrnoException) => reason.code);
    other.close();
    expect(error).to.equal('EADDRINUSE');
  });
});
