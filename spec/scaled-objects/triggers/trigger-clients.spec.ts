import { expect } from 'chai';
import { fixedCredentials } from '#lib/sources/http/http-credentials.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { triggerClients } from '#spec/support/trigger-clients.ts';

describe('TriggerClients', () => {
  it('keep on serving who has one, however many other credentials there are', async () => {
    await using server = await LoopbackServer.start((_, response) => void response.end('7'));
    await using clients = triggerClients();
    const first = clients.find(fixedCredentials({ authorization: 'first' }));
    for (let index = 0; index < 1001; index++) clients.find(fixedCredentials({ authorization: `${index}` }));
    await using _ = first;
    const body = await first.read({ url: server.url, timeoutMs: 5000 }, AbortSignal.timeout(5000));
    expect(body.toString()).to.equal('7');
  });
});
