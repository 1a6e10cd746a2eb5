import { expect } from 'chai';
import { fixedCredentials } from '#lib/sources/http/http-credentials.ts';
import { observeRequests } from '#lib/sources/http/observed-requester.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { triggerClients } from '#spec/support/trigger-clients.ts';

describe('observeRequests', () => {
  it('reports usual statuses, and only the class of others', async () => {
    let status = 200;
    await using server = await LoopbackServer.start((_, response) => void response.writeHead(status).end());
    await using clients = triggerClients();
    const reported = new Map<number, string>();
    const http = observeRequests(clients.find(fixedCredentials({})), {
      clock: new ManualClock(),
      onEnded: (counted) => void reported.set(status, counted),
    });
    const usual = [200, 204, 401, 404, 429, 500, 503];
    for (status of [...usual, 299, 399, 418, 499, 599, 600, 999])
      await http.exchange({ url: server.url, timeoutMs: 20_000 }, new AbortController().signal);
    for (const one of usual) expect(reported.get(one)).to.equal(`${one}`);
    expect(reported.get(299)).to.equal('2xx');
    expect(reported.get(399)).to.equal('3xx');
    expect(reported.get(418)).to.equal('4xx');
    expect(reported.get(499)).to.equal('4xx');
    expect(reported.get(599)).to.equal('5xx');
    expect(reported.get(600)).to.equal('other');
    expect(reported.get(999)).to.equal('other');
  });
});
