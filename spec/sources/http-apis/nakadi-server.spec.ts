import { expect } from 'chai';
import { HttpClient } from '#lib/sources/http/http-client.ts';
import { fixedCredentials } from '#lib/sources/http/http-credentials.ts';
import { NakadiServer } from '#lib/sources/http-apis/nakadi-server.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { LoopbackServer, type ReceivedRequest } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const signal = new AbortController().signal;
const ALL = { owningApplication: 'shop', eventTypes: ['order.created', 'order.paid'], consumerGroup: 'ship' };

/** Nakadi's API as documented; the registries in use have no server of it. */
const STATS = {
  items: [
    {
      event_type: 'order.created',
      partitions: [
        { partition: '0', state: 'assigned', unconsumed_events: 4, consumer_lag_seconds: 2 },
        { partition: '1', state: 'assigned', unconsumed_events: 5, consumer_lag_seconds: 7 },
      ],
    },
  ],
};

describe('NakadiServer', () => {
  it('returns the maximum lag, or the sum of unconsumed events, of one subscription', async () => {
    await using system = await setUp(() => STATS);
    const numberOf = async (metric: 'consumer-lag-seconds' | 'unconsumed-events') =>
      (await system.server.query(metric, { id: 'a/b' }).run(signal)).map(({ value }) => value);
    expect(await numberOf('consumer-lag-seconds')).to.deep.equal([7]);
    expect(await numberOf('unconsumed-events')).to.deep.equal([9]);
    const [request] = system.loopback.requests;
    expect(request?.url.pathname).to.equal('/nakadi/subscriptions/a%2Fb/stats');
    expect(request?.url.search).to.equal('?show_time_lag=true');
    expect(request?.headers.authorization).to.equal('Bearer secret');
  });

  it('finds all subscriptions that fit, page by page', async () => {
    await using system = await setUp(({ url }) => {
      if (url.pathname.endsWith('/stats')) return STATS;
      if (url.searchParams.get('offset') === '1') return { items: [{ id: 'two' }], _links: {} };
      return { items: [{ id: 'one' }], _links: { next: { href: '/nakadi/subscriptions?offset=1' } } };
    });
    const samples = await system.server.query('unconsumed-events', ALL).run(signal);
    expect(samples).to.deep.equal([{ value: 18, labels: {} }]);
    expect(system.loopback.requests[0]?.url.search).to.equal(
      '?owning_application=shop&event_type=order.created&event_type=order.paid&consumer_group=ship',
    );
  });

  const refused: readonly (readonly [string, (request: ReceivedRequest) => object, RegExp])[] = [
    ['no event type', () => ({ items: [] }), /returned no event type of the subscription$/],
    [
      'no lag',
      () => ({ items: [{ partitions: [{ unconsumed_events: 1 }] }] }),
      /returned no consumer-lag-seconds of the subscription$/,
    ],
    [
      'a lag below 0',
      () => ({ items: [{ partitions: [{ consumer_lag_seconds: -1 }] }] }),
      /not a valid response of Nakadi$/,
    ],
    ['something else', () => ({}), /the response is not a valid response of Nakadi$/],
  ];
  for (const [what, respond, error] of refused)
    it(`has no result for ${what}`, async () => {
      await using system = await setUp(respond);
      expect(await errorOf(system.server.query('consumer-lag-seconds', { id: 'a' }).run(signal))).to.match(
        error,
      );
    });

  it('refuses ids that would request another path with its token, of tenants and of the server', async () => {
    await using system = await setUp(() => ({ items: [{ id: '..' }] }));
    for (const id of ['.', '..'])
      expect(await errorOf(system.server.query('unconsumed-events', { id }).run(signal))).to.equal(
        `Cannot build path: "${id}" is not a path segment`,
      );
    expect(system.loopback.requests).to.deep.equal([]);
    expect(await errorOf(system.server.query('unconsumed-events', ALL).run(signal))).to.match(
      /is not a path segment$/,
    );
    expect(system.loopback.requests.map(({ url }) => url.pathname)).to.deep.equal(['/nakadi/subscriptions']);
  });

  it('sends its token to no other host, and ends', async () => {
    await using away = await setUp(() => ({
      items: [],
      _links: { next: { href: 'http://169.254.169.254/subscriptions' } },
    }));
    expect(await errorOf(away.server.query('unconsumed-events', ALL).run(signal))).to.match(
      /links to another server for more subscriptions$/,
    );
    await using endless = await setUp(() => ({ items: [], _links: { next: { href: '/subscriptions' } } }));
    expect(await errorOf(endless.server.query('unconsumed-events', ALL).run(signal))).to.match(
      /no event type/,
    );
    expect(endless.loopback.requests).to.have.lengthOf(20);
    await using many = await setUp(() => ({ items: Array.from({ length: 101 }, () => ({ id: 'a' })) }));
    expect(await errorOf(many.server.query('unconsumed-events', ALL).run(signal))).to.match(
      /more than 100 such subscriptions$/,
    );
  });
});

async function setUp(respond: (request: ReceivedRequest) => object) {
  const stack = new AsyncDisposableStack();
  const loopback = stack.use(
    await LoopbackServer.start((request, response) => void response.end(JSON.stringify(respond(request)))),
  );
  const http = stack.use(
    new HttpClient({
      clock: new ManualClock(),
      allowedHosts: new AllowedHosts(['127.0.0.1']),
      userAgent: 'spec',
      credentials: fixedCredentials({ authorization: 'Bearer secret' }),
    }),
  );
  const server = new NakadiServer({ http, url: new URL('/nakadi/', loopback.url) });
  return { loopback, server, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
