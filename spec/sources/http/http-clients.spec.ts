import { expect } from 'chai';
import { HttpClients } from '#lib/sources/http/http-clients.ts';
import { fixedCredentials } from '#lib/sources/http/http-credentials.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const signal = new AbortController().signal;

describe('HttpClients', () => {
  it('finds the same client for equal credentials alone', async () => {
    await using clients = start();
    const [a, b] = ['a', 'b'].map((user) => fixedCredentials({ authorization: user }));
    expect(clients.find()).to.equal(clients.find({ credentials: undefined }));
    expect(clients.find({ credentials: a })).to.equal(clients.find({ credentials: a }));
    expect(clients.find({ credentials: a })).not.to.equal(clients.find({ credentials: b }));
    expect(clients.find({ connectTimeoutMs: 1 })).not.to.equal(clients.find());
  });

  it('retains the most recently used connections, and lets all others reconnect', async () => {
    await using server = await LoopbackServer.start((_, response) => void response.end('1'));
    await using clients = start();
    const all = Array.from({ length: 300 }, (_, index) =>
      clients.find({ credentials: fixedCredentials({ authorization: `user ${index}` }) }),
    );
    for (const client of all) await client.read({ url: server.url }, signal);
    let open = await server.connectionCount();
    while (open > 64) {
      await new Promise((resolve) => setImmediate(resolve));
      open = await server.connectionCount();
    }
    const [first] = all;
    expect(String(await first?.read({ url: server.url }, signal))).to.equal('1');
    expect(server.requests.at(-1)?.headers.authorization).to.equal('user 0');
  });

  it('sends nothing once it is disposed of', async () => {
    const clients = start();
    const client = clients.find();
    await clients[Symbol.asyncDispose]();
    const pending = client.read({ url: new URL('http://127.0.0.1:1') }, signal);
    expect(await errorOf(pending)).to.match(/the client is closed$/);
  });
});

function start(): HttpClients {
  return new HttpClients({
    clock: new ManualClock(),
    allowedHosts: new AllowedHosts(['127.0.0.1']),
    userAgent: 'spec',
  });
}
