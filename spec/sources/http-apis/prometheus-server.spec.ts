import { expect } from 'chai';
import { HttpClient } from '#lib/sources/http/http-client.ts';
import { PrometheusServer } from '#lib/sources/http-apis/prometheus-server.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const signal = new AbortController().signal;

describe('PrometheusServer', () => {
  it('posts an instant query, and returns samples with labels and times', async () => {
    await using system = await setUp(
      vector([{ metric: { __name__: 'up', job: 'web' }, value: [1767225600.123, '1.5'] }]),
    );
    const samples = await system.server.query('up{job="web"}').run(signal);
    expect(samples).to.deep.equal([
      { value: 1.5, labels: { __name__: 'up', job: 'web' }, takenAtMs: 1767225600123 },
    ]);
    const [request] = system.loopback.requests;
    expect(request).to.include({ method: 'POST', body: 'query=up%7Bjob%3D%22web%22%7D' });
    expect(request?.url.pathname).to.equal('/prometheus/api/v1/query');
  });

  it('returns all samples of a vector, and the single one of a scalar', async () => {
    const two = ['1', '-2e3'].map((value) => ({ metric: {}, value: [1, value] }));
    await using several = await setUp(vector(two));
    expect((await several.server.query('a').run(signal)).map(({ value }) => value)).to.deep.equal([1, -2000]);
    await using single = await setUp(success({ resultType: 'scalar', result: [2, '7'] }));
    expect(await single.server.query('a').run(signal)).to.deep.equal([
      { value: 7, labels: {}, takenAtMs: 2000 },
    ]);
  });

  it('omits a time that RFC 3339 cannot express, and returns the number', async () => {
    for (const seconds of [1e300, -1, 253_402_300_800]) {
      await using system = await setUp(vector([{ metric: {}, value: [seconds, '1'] }]));
      expect(await system.server.query('a').run(signal)).to.deep.equal([{ value: 1, labels: {} }]);
    }
  });

  const refused: readonly (readonly [string, object, RegExp])[] = [
    ['an empty vector', vector([]), /the query returned no result$/],
    ['NaN', vector([{ metric: {}, value: [1, 'NaN'] }]), /"NaN", not a finite number$/],
    ['infinity', success({ resultType: 'scalar', result: [1, '+Inf'] }), /"\+Inf", not a finite number$/],
    ['less than infinity', vector([{ metric: {}, value: [1, '-Inf'] }]), /"-Inf", not a finite number$/],
    ['no number', vector([{ metric: {}, value: [1, ''] }]), /"", not a finite number$/],
    ['a matrix', success({ resultType: 'matrix', result: [] }), /returned a matrix, not a vector or scalar$/],
    [
      'a string',
      success({ resultType: 'string', result: [1, 'a'] }),
      /returned a string, not a vector or scalar$/,
    ],
    ['a histogram', vector([{ metric: {}, histogram: [1, {}] }]), /returned a histogram, not a number$/],
    ['a blank for a number', vector([{ metric: {}, value: [1, ' '] }]), /" ", not a finite number$/],
    [
      'another form of a number',
      vector([{ metric: {}, value: [1, '0x10'] }]),
      /"0x10", not a finite number$/,
    ],
    [
      'a number that never ends',
      vector([{ metric: {}, value: [1, '1'.repeat(401)] }]),
      /"1{200}…", not a finite number$/,
    ],
    ...[
      vector([1 as unknown as object]),
      vector([{ value: [1, '1'] }]),
      vector([{ metric: { a: 1 }, value: [1, '1'] }]),
      vector([{ metric: {}, value: [1, '1', 2] }]),
      vector([{ metric: {}, value: ['1', '1'] }]),
      vector([{ metric: {}, value: '1' }]),
      success({ resultType: 'vector', result: {} }),
      success({ resultType: 'scalar' }),
      success({ resultType: 'other', result: [1, '1'] }),
      { status: 'other', data: { resultType: 'scalar', result: [1, '1'] } },
      [],
    ].map(
      (body) =>
        [
          `what is ${JSON.stringify(body)}`,
          body,
          /not a valid response of the Prometheus HTTP API$/,
        ] as const,
    ),
    ['too much', vector(Array.from({ length: 100_001 }, () => 1 as unknown as object)), /100000 values$/],
    ['something else', { a: 1 }, /the response is not a valid response of the Prometheus HTTP API$/],
  ];
  for (const [what, body, error] of refused) {
    it(`has no result for ${what}`, async () => {
      await using system = await setUp(body);
      expect(await errorOf(system.server)).to.match(error);
    });
  }

  it('reports the error of Prometheus about a query', async () => {
    const error = { status: 'error', errorType: 'bad_data', error: 'parse error: unexpected end' };
    await using system = await setUp(error, () => 400);
    expect(await errorOf(system.server)).to.equal(
      `Cannot query 127.0.0.1:${system.loopback.port}: status 400: parse error: unexpected end`,
    );
  });

  it('falls back to GET where POST is refused, and remembers that', async () => {
    const body = vector([{ metric: {}, value: [1, '1'] }]);
    await using system = await setUp(body, (method) => (method === 'POST' ? 405 : 200));
    const query = system.server.query('a b');
    await query.run(signal);
    await query.run(signal);
    expect(system.loopback.requests.map(({ method }) => method)).to.deep.equal(['POST', 'GET', 'GET']);
    expect(system.loopback.requests[2]?.url.search).to.equal('?query=a+b');
  });

  it('has the same key for equal queries alone', async () => {
    await using one = await setUp({});
    const { server } = one;
    expect(server.query('a').key).to.equal(server.query('a').key);
    expect(server.query('a').key).not.to.equal(server.query('b').key);
    expect(server.query('x'.repeat(5000)).description.length).to.be.below(300);
  });
});

async function setUp(body: object, statusOf: (method: string) => number = () => 200) {
  const stack = new AsyncDisposableStack();
  const loopback = stack.use(
    await LoopbackServer.start(({ method }, response) => {
      response.writeHead(statusOf(method)).end(JSON.stringify(body));
    }),
  );
  const http = stack.use(
    new HttpClient({
      clock: new ManualClock(),
      allowedHosts: new AllowedHosts(['127.0.0.1']),
      userAgent: 'spec',
    }),
  );
  const server = new PrometheusServer({ http, url: new URL('/prometheus/', loopback.url) });
  return { loopback, server, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

async function errorOf(server: PrometheusServer): Promise<string> {
  return await server
    .query('a')
    .run(signal)
    .then(
      () => 'no error',
      (error: unknown) => describeError(error),
    );
}

function success(data: object): object {
  return { status: 'success', data };
}

function vector(result: readonly object[]): object {
  return success({ resultType: 'vector', result });
}
