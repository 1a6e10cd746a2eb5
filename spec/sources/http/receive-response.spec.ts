import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { HttpClients } from '#lib/sources/http/http-clients.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { AdmittedResponses } from '#spec/support/admitted-responses.ts';
import { eventually } from '#spec/support/eventually.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const LONG = 64 * 1024 + 1;
const signal = new AbortController().signal;

describe('HttpClients, with long responses', () => {
  it('hold no more than eight of a host at once, of all clients together, and go on reading those of others', async () => {
    const serve: Respond = ({ url }, response) => {
      response.write(Buffer.alloc(2 * LONG));
      if (url.pathname === '/whole') response.end();
    };
    await using server = await LoopbackServer.start(serve);
    await using other = await LoopbackServer.start(serve);
    const environment = { clock: new ManualClock(), allowedHosts: new AllowedHosts(['127.0.0.1']) };
    const longResponses = new AdmittedResponses();
    await using clients = new HttpClients({ ...environment, longResponses, userAgent: 'spec' });
    const leaving = new AbortController();
    const endless = Array.from({ length: 8 }, (_, index) => {
      const http = clients.find({ connectTimeoutMs: 1_000 + (index % 2) });
      return http.read({ url: server.url }, leaving.signal).catch(() => {});
    });
    await eventually(() => longResponses.admitted.length === 8);
    const whole = clients.find().read({ url: new URL('/whole', server.url) }, signal);
    await eventually(() => longResponses.waitingCount === 1);
    const ofOther = await clients.find().read({ url: new URL('/whole', other.url) }, signal);
    expect(ofOther).to.have.lengthOf(2 * LONG);
    expect(longResponses.waitingCount).to.equal(1);
    leaving.abort(new Error('gone'));
    await Promise.all(endless);
    expect(await whole).to.have.lengthOf(2 * LONG);
  });

  for (const [what, bytes, isSlowToParse] of [
    ['long responses', 5_000, false],
    ['short responses that are slow to parse', 10, true],
  ] as const)
    it(`returns ${what} one at a time, each in a time slice of its own`, async () => {
      const responses: ServerResponse[] = [];
      await using server = await LoopbackServer.start((_request, response) => void responses.push(response));
      const environment = { clock: new ManualClock(), allowedHosts: new AllowedHosts(['127.0.0.1']) };
      await using clients = new HttpClients({
        ...environment,
        share: new EventLoopShare(environment.clock),
        userAgent: 'spec',
      });
      const slicesOf = Array.from({ length: 4 }, async () => {
        await clients.find().read({ url: server.url, isSlowToParse }, signal);
        const { loopCount } = performance.nodeTiming.uvMetricsInfo;
        spin(50); // meanwhile the others arrive, all for the same iteration of the event loop
        return loopCount;
      });
      while (responses.length < slicesOf.length) await new Promise(setImmediate);
      for (const response of responses) response.end(Buffer.alloc(bytes));
      expect(new Set(await Promise.all(slicesOf))).to.have.property('size', slicesOf.length);
    });
});

type Respond = Parameters<typeof LoopbackServer.start>[0];

/** Blocks the event loop, like parsing a long response. */
function spin(ms: number): void {
  for (const untilMs = performance.now() + ms; performance.now() < untilMs; );
}
