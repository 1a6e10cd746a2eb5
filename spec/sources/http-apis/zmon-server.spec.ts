import { expect } from 'chai';
import { HttpClient } from '#lib/sources/http/http-client.ts';
import { relativeTime, type ZmonCheck, ZmonServer } from '#lib/sources/http-apis/zmon-server.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const signal = new AbortController().signal;
const CHECK: ZmonCheck = {
  checkId: 1234,
  key: 'http.rate',
  tags: { application: 'shop' },
  durationMs: 600_000,
  aggregators: ['max'],
};

/** KairosDB's API as documented; the registries in use have no server of it. */
const response = (...values: readonly (readonly unknown[])[]) => ({ queries: [{ results: [{ values }] }] });

describe('ZmonServer', () => {
  it('returns the last data point with its time', async () => {
    await using system = await setUp(response([1767225540000, 1], [1767225600000, 2.5]));
    expect(await system.server.query(CHECK).run(signal)).to.deep.equal([
      { value: 2.5, labels: {}, takenAtMs: 1767225600000 },
    ]);
    const [request] = system.loopback.requests;
    expect(request).to.include({ method: 'POST' });
    expect(request?.url.pathname).to.equal('/api/v1/datapoints/query');
    expect(request?.headers['x-attribution']).to.equal('kube-metrics-adapter/1234');
    const sampling = { value: 10, unit: 'minutes' };
    expect(JSON.parse(request?.body ?? '')).to.deep.equal({
      start_relative: sampling,
      metrics: [
        {
          name: 'zmon.check.1234',
          limit: 10_000,
          tags: { application: ['shop'], key: ['http.rate'] },
          group_by: [{ name: 'tag', tags: ['key'] }],
          aggregators: [{ name: 'max', sampling }],
        },
      ],
    });
  });

  it('queries all values of a check without a key, by its tags alone', async () => {
    await using system = await setUp(response([1767225600000, 2.5]));
    const check = { ...CHECK, key: undefined, aggregators: ['max', 'avg'] as const };
    await system.server.query(check).run(signal);
    const [metric] = JSON.parse(system.loopback.requests[0]?.body ?? '').metrics;
    expect(metric).to.deep.include({ tags: { application: ['shop'] }, group_by: [] });
    expect(metric.aggregators.map(({ name }: { readonly name: string }) => name)).to.deep.equal([
      'max',
      'avg',
    ]);
  });

  it('omits a time that RFC 3339 cannot express', async () => {
    await using system = await setUp(response([1e300, 7]));
    expect(await system.server.query(CHECK).run(signal)).to.deep.equal([{ value: 7, labels: {} }]);
  });

  it('treats a point without a time as current', async () => {
    await using system = await setUp(response([0, 7]));
    expect(await system.server.query(CHECK).run(signal)).to.deep.equal([{ value: 7, labels: {} }]);
  });

  it('returns nothing without data', async () => {
    for (const body of [response(), { queries: [{ results: [] }] }, { queries: [] }]) {
      await using system = await setUp(body);
      expect(await system.server.query(CHECK).run(signal)).to.deep.equal([]);
    }
  });

  it('refuses invalid responses of KairosDB, and other statuses', async () => {
    for (const body of [{}, response([1, 'NaN']), response([1, null])]) {
      await using system = await setUp(body);
      expect(await errorOf(system.server.query(CHECK).run(signal))).to.match(
        /not a valid response of KairosDB$/,
      );
    }
    await using failing = await setUp({}, 204);
    expect(await errorOf(failing.server.query(CHECK).run(signal))).to.match(/status 204$/);
  });

  it('has the same key for equal checks alone', async () => {
    await using system = await setUp({});
    const { key } = system.server.query(CHECK);
    expect(system.server.query({ ...CHECK }).key).to.equal(key);
    const tags = (of: Readonly<Record<string, string>>) => system.server.query({ ...CHECK, tags: of }).key;
    expect(tags({ b: '2', a: '1', c: '3' })).to.equal(tags({ a: '1', c: '3', b: '2' }));
    for (const other of [{ checkId: 1 }, { key: undefined }, { tags: {} }, { durationMs: 1 }])
      expect(system.server.query({ ...CHECK, ...other }).key).not.to.equal(key);
  });
});

describe('relativeTime', () => {
  const cases: readonly (readonly [number, number, string])[] = [
    [1, 1, 'milliseconds'],
    [1500, 2, 'seconds'],
    [600_000, 10, 'minutes'],
    [5_400_000, 2, 'hours'],
    [86_400_000, 1, 'days'],
    [7 * 86_400_000, 1, 'weeks'],
    [31 * 86_400_000, 1, 'months'],
    [400 * 86_400_000, 1, 'years'],
  ];
  for (const [ms, value, unit] of cases)
    it(`writes ${ms} ms as ${value} ${unit}`, () => {
      expect(relativeTime(ms)).to.deep.equal({ value, unit });
    });
});

async function setUp(body: object, status = 200) {
  const stack = new AsyncDisposableStack();
  const loopback = stack.use(
    await LoopbackServer.start((_, to) => void to.writeHead(status).end(JSON.stringify(body))),
  );
  const allowedHosts = new AllowedHosts(['127.0.0.1']);
  const http = stack.use(new HttpClient({ clock: new ManualClock(), allowedHosts, userAgent: 'spec' }));
  return {
    loopback,
    server: new ZmonServer({ http, url: loopback.url }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
