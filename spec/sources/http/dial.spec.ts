import { expect } from 'chai';
import { AllowedHosts } from '#lib/sources/http/allowed-hosts.ts';
import { dial } from '#lib/sources/http/dial.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';

describe('dial', () => {
  const allowedHosts = new AllowedHosts(['127.0.0.1']);

  it('connects to nobody for a signal that has aborted', async () => {
    await using server = await LoopbackServer.start((_, response) => void response.end());
    const gone = AbortSignal.abort(new Error('nobody waits any more'));
    for (const tls of [undefined, { isUnverified: true }]) {
      const options = { host: '127.0.0.1', port: Number(server.url.port), tls, allowedHosts };
      expect(await errorOf(dial(options, gone))).to.equal('nobody waits any more');
    }
    expect(await server.connectionCount()).to.equal(0);
  });
});
