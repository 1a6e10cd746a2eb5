import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { HttpClient } from '#lib/sources/http/http-client.ts';
import { jsonExtract, jsonQuery } from '#lib/sources/json/json-query.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import type { AggregatorName } from '#lib/sources/sample.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const signal = new AbortController().signal;
const extract = jsonExtract({ form: 'path', text: '$.queue.length' });

describe('jsonQuery', () => {
  it('gets a number out of the JSON of a URL', async () => {
    await using system = await setUp((response) => response.end('{"queue":{"length":42}}'));
    const query = system.query('/stats?a=b');
    expect(query.description).to.equal(`$.queue.length in /stats of 127.0.0.1:${system.loopback.port}`);
    expect(await query.run(signal)).to.deep.equal([{ value: 42, labels: {} }]);
    expect(system.loopback.requests[0]).to.include({ method: 'GET' });
    expect(system.loopback.requests[0]?.url.search).to.equal('?a=b');
    expect(query.key).not.to.equal(system.query('/stats').key);
    expect(query.key).to.equal(system.query('/stats?a=b').key);
  });

  const falseReports: readonly (readonly [string, (response: ServerResponse) => unknown, RegExp])[] = [
    ['another status', (response) => response.writeHead(201).end('{"queue":{"length":1}}'), /status 201$/],
    [
      'a redirect',
      (response) => response.writeHead(302, { location: '/other' }).end(),
      /status 302 \(redirects are not followed\)$/,
    ],
    ['no such value', (response) => response.end('{}'), /the response has no value at the path$/],
    ['deep nesting', (response) => response.end('['.repeat(1000)), /nested deeper than 128 levels$/],
    [
      'a body without end',
      (response) => {
        const more = () => response.write('['.padEnd(64 * 1024), () => response.destroyed || more());
        more();
      },
      /the response is longer than 4194304 bytes$/,
    ],
    [
      'what is compressed, though nobody asked for that',
      (response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(10_000_000))),
      /the response is not valid JSON/,
    ],
  ];
  for (const [what, respond, error] of falseReports)
    it(`has no result for ${what}`, async () => {
      await using system = await setUp(respond);
      expect(await errorOf(system.query('/').run(signal))).to.match(error);
    });

  it('fails after its timeout with slow headers and slow bodies', async () => {
    for (const begin of [() => {}, (response: ServerResponse) => response.write('{')]) {
      const requested = Promise.withResolvers<void>();
      await using system = await setUp((response) => {
        begin(response);
        requested.resolve();
      });
      const failing = errorOf(system.query('/', 5000).run(signal));
      await requested.promise;
      await system.clock.advance(5000);
      expect(await failing).to.match(/no response within 5s$/);
    }
  });
});

async function setUp(respond: (response: ServerResponse) => unknown) {
  const stack = new AsyncDisposableStack();
  const clock = new ManualClock();
  const loopback = stack.use(await LoopbackServer.start((_, response) => void respond(response)));
  const allowedHosts = new AllowedHosts(['127.0.0.1']);
  const http = stack.use(new HttpClient({ clock, allowedHosts, userAgent: 'spec' }));
  return {
    ...{ clock, loopback },
    query: (path: string, timeoutMs?: number) =>
      jsonQuery({ http, url: new URL(path, loopback.url), extract, ...(timeoutMs ? { timeoutMs } : {}) }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const BODY = Buffer.from(
  '{"a": 1.5, "list": [1, 2, 6], "mixed": [1, "2"], "empty": [], "text": "5", "yes": true, "none": null, "o": {},' +
    ' "huge": 1e400, "nodes": [{"n": 4}, {"n": 8}], "twice": 1, "twice": 2, "max": 1.7e308}',
);

describe('jsonExtract', () => {
  const values: readonly (readonly [string, AggregatorName | undefined, number])[] = [
    ['$.a', undefined, 1.5],
    ['$.a', 'max', 1.5],
    ['$.list', 'avg', 3],
    ['$.list', 'min', 1],
    ['$.list', 'max', 6],
    ['$.list', 'sum', 9],
    ['$.nodes[*].n', 'avg', 6],
    ['$.twice', undefined, 2],
  ];
  for (const [path, aggregator, value] of values)
    it(`makes ${value} of ${path} by ${aggregator ?? 'no aggregator'}`, () => {
      const extract = jsonExtract({ form: 'path', text: path, aggregator });
      expect(extract.readNumber(BODY)).to.equal(value);
    });

  const refused: readonly (readonly [string, AggregatorName | undefined, string])[] = [
    ['$.missing', undefined, 'the response has no value at the path'],
    ['$.missing', 'sum', 'the response has no value at the path'],
    ['$.list', undefined, 'there are several values: set an aggregator, avg, min, max or sum'],
    ['$.nodes[*].n', undefined, 'there are several values: set an aggregator, avg, min, max or sum'],
    ['$.empty', 'sum', 'the array is empty'],
    ['$.empty', 'avg', 'the array is empty'],
    ['$.mixed', 'sum', 'the value is of type string, not a number'],
    ['$.text', undefined, 'the value is of type string, not a number'],
    ['$.yes', undefined, 'the value is of type boolean, not a number'],
    ['$.none', undefined, 'the value is of type null, not a number'],
    ['$.o', undefined, 'the value is of type object, not a number'],
    ['$.huge', undefined, 'the value is Infinity, not a finite number'],
    ["$['max','max']", 'sum', 'the value is Infinity, not a finite number'],
  ];
  for (const [path, aggregator, error] of refused)
    it(`has no number for ${path} by ${aggregator ?? 'no aggregator'}`, () => {
      const extract = jsonExtract({ form: 'path', text: path, aggregator });
      expect(() => extract.readNumber(BODY)).to.throw(Error, error);
    });

  it('computes an expression', () => {
    const numberIn = (text: string, aggregator?: AggregatorName) =>
      jsonExtract({ form: 'expression', text, aggregator }).readNumber(BODY);
    expect(numberIn('ceil($.a * 10) / 3')).to.equal(5);
    expect(numberIn('$.list', 'max')).to.equal(6);
    expect(() => numberIn('$.a > 1')).to.throw('the value is of type boolean, not a number');
    expect(() => numberIn('sqrt(-1)')).to.throw('the value is NaN, not a finite number');
    expect(() => numberIn('$.max * 10')).to.throw('the value is Infinity');
  });

  it('refuses an invalid path or expression before any request', () => {
    expect(() => jsonExtract({ form: 'path', text: 'a' })).to.throw('must have "$" at character 1, not "a"');
    expect(() => jsonExtract({ form: 'expression', text: '1+' })).to.throw(
      'must have a value at character 3',
    );
  });
});
