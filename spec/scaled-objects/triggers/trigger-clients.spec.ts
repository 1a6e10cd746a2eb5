import { expect } from 'chai';
import { requestDurations } from '#lib/scaled-objects/triggers/trigger-clients.ts';
import { fixedCredentials } from '#lib/sources/http/http-credentials.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { triggerClients } from '#spec/support/trigger-clients.ts';

describe('TriggerClients', () => {
  it('keep serving existing users with any number of other credentials', async () => {
    await using server = await LoopbackServer.start((_, response) => void response.end('7'));
    await using clients = triggerClients();
    const first = clients.find(fixedCredentials({ authorization: 'first' }));
    for (let index = 0; index < 1001; index++) clients.find(fixedCredentials({ authorization: `${index}` }));
    await using _ = first;
    const body = await first.read({ url: server.url, timeoutMs: 60_000 }, new AbortController().signal);
    expect(body.toString()).to.equal('7');
  });
});

describe('requestDurations', () => {
  it('shorten names, which may have a megabyte', () => {
    const { series, observe } = requestDurations(new ManualClock());
    observe('n'.repeat(1_000_000), '200', 5);
    const written = [...series.slices()].join('');
    expect(written.length).to.be.below(6_000);
    expect(written).to.contain(`_count{scaler="${'n'.repeat(256)}",status_code="200"} 1`);
  });

  it('replace only names without requests for an hour by new ones', async () => {
    const clock = new ManualClock();
    const { series, observe } = requestDurations(clock);
    const written = () => [...series.slices()].join('');
    const has = (scaler: string, status = '200') =>
      written().includes(`_count{scaler="${scaler}",status_code="${status}"}`);
    for (let index = 0; index < 1000; index++) observe(`scaler-${index}`, '200', 5);
    observe('scaler-1', '503', 5);
    await clock.advance(3_599_000);
    observe('scaler-0', '200', 5);
    observe('scaler-1', '503', 5);
    observe('new', '200', 5);
    expect(has('others')).to.equal(true);
    expect(has('new')).to.equal(false);
    await clock.advance(1000);
    observe('new', '200', 5);
    expect(has('new')).to.equal(true);
    expect(has('scaler-2')).to.equal(false); // the least recently used one
    for (const retained of ['scaler-0', 'scaler-1', 'scaler-3', 'scaler-20'])
      expect(has(retained)).to.equal(true);
    expect(has('scaler-1', '503')).to.equal(true);
    expect(written().match(/_count\{scaler="[^"]*",status_code="200"\}/g)).to.have.length(1001);
    for (let index = 3; index < 1000; index++) observe(`newer-${index}`, '200', 5);
    observe('newest', '200', 5);
    expect(has('newer-999')).to.equal(true);
    expect(has('scaler-1', '503')).to.equal(true);
    expect(has('newest')).to.equal(false); // all others were used within the hour
  });
});
