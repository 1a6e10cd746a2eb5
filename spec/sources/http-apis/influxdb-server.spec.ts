import { expect } from 'chai';
import { HttpClient } from '#lib/sources/http/http-client.ts';
import { fixedCredentials } from '#lib/sources/http/http-credentials.ts';
import { type FluxQueryOptions, InfluxdbServer } from '#lib/sources/http-apis/influxdb-server.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const signal = new AbortController().signal;
const FLUX = 'from(bucket: "apps") |> range(start: -1m) |> last()';

/** InfluxDB 2's annotated CSV as documented; the registries in use have no server of that version. */
const TABLES = [
  '#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,double,string,string',
  ',result,table,_start,_time,_value,_field,host',
  ',_result,0,2026-01-01T00:00:00Z,2026-01-01T00:00:30.5Z,10.25,depth,"a,b"',
  ',_result,0,2026-01-01T00:00:00Z,2026-01-01T00:00:40Z,-3,depth,c',
  '',
  '#datatype,string,long,long',
  ',result,table,_value',
  ',other,0,7',
  '',
].join('\r\n');

describe('InfluxdbServer', () => {
  it('posts a Flux query with its token and organization, and returns the numbers of its rows', async () => {
    await using system = await setUp({ body: TABLES });
    expect(await system.server.query(FLUX).run(signal)).to.deep.equal([
      {
        value: 10.25,
        labels: { _field: 'depth', host: 'a,b' },
        takenAtMs: Date.UTC(2026, 0, 1, 0, 0, 30, 500),
      },
      { value: -3, labels: { _field: 'depth', host: 'c' }, takenAtMs: Date.UTC(2026, 0, 1, 0, 0, 40) },
      { value: 7, labels: {} },
    ]);
    const [request] = system.loopback.requests;
    expect(request?.method).to.equal('POST');
    expect(request?.url.pathname).to.equal('/influx/api/v2/query');
    expect(request?.url.searchParams.get('org')).to.equal('my org');
    expect(request?.headers).to.include({ authorization: 'Token secret', accept: 'application/csv' });
    expect(JSON.parse(request?.body ?? '')).to.deep.equal({
      query: FLUX,
      type: 'flux',
      dialect: { header: true, delimiter: ',', annotations: ['datatype'] },
    });
  });

  it('omits a time that RFC 3339 cannot express, and returns the number', async () => {
    const body =
      '#datatype,string,long,dateTime:RFC3339,long\r\n,result,table,_time,_value\r\n,_result,0,+200000-01-01T00:00:00Z,7\r\n';
    await using system = await setUp({ body });
    expect(await system.server.query(FLUX).run(signal)).to.deep.equal([{ value: 7, labels: {} }]);
  });

  it('reads the first existing one of the given columns', async () => {
    const body =
      '#datatype,string,long,double,long\r\n,result,table,_value,metricvalue\r\n,_result,0,1.5,42\r\n';
    await using system = await setUp({ body });
    const send = async (options?: FluxQueryOptions) =>
      (await system.server.query(FLUX, options).run(signal)).map(({ value }) => value);
    expect(await send({ valueColumns: ['metricvalue', '_value'] })).to.deep.equal([42]);
    expect(await send({ valueColumns: ['x', '_value'] })).to.deep.equal([1.5]);
    expect(await send()).to.deep.equal([1.5]);
  });

  const row = (type: string, value: string) =>
    `#datatype,string,long,${type}\r\n,result,table,_value\r\n,_result,0,${value}\r\n`;
  const refused: readonly (readonly [string, string, RegExp])[] = [
    ['nothing', '', /: the query returned no result$/],
    ['a header without rows', '#datatype,string\r\n,result\r\n', /: the query returned no result$/],
    ['NaN', row('double', 'NaN'), /column _value has "NaN", not a number$/],
    ['infinity', row('double', '+Inf'), /column _value has "\+Inf", not a number$/],
    ['a number too great', row('double', '1e400'), /column _value has "1e400", not a number$/],
    ['an empty field', row('double', ''), /column _value has "", not a number$/],
    ['a text that looks like a number', row('string', '1'), /column _value has "1", not a number$/],
    ['no column', '#datatype,string,long\r\n,result,table\r\n,a,0\r\n', /the result has no column _value$/],
    ['a quote that does not end', row('string', '"a'), /a quoted field is not terminated$/],
    ['too many rows', `,_value\r\n${',1\r\n'.repeat(1001)}`, /the query returned more than 1000 rows$/],
    ['too many columns', `${',a'.repeat(500)}\r\n`, /a table has more than 500 columns$/],
    [
      'an error after all',
      '#datatype,string,string\r\n,error,reference\r\n,query terminated: timeout,897\r\n',
      /the query failed: query terminated: timeout$/,
    ],
  ];
  for (const [what, body, error] of refused)
    it(`has no result for ${what}`, async () => {
      await using system = await setUp({ body });
      expect(await errorOf(system.server.query(FLUX).run(signal))).to.match(error);
    });

  it('reports the error of InfluxDB about a query', async () => {
    await using system = await setUp({
      status: 400,
      body: '{"code":"invalid","message":"compilation failed: error @1:1"}',
    });
    expect(await errorOf(system.server.query(FLUX).run(signal))).to.equal(
      `Cannot query 127.0.0.1:${system.loopback.port}: status 400: compilation failed: error @1:1`,
    );
  });

  it('has the same key for equal queries alone, without the token', async () => {
    await using system = await setUp({ body: TABLES });
    const { server } = system;
    expect(server.query('a').key).to.equal(server.query('a').key);
    expect(server.query('a').key).not.to.equal(server.query('b').key);
    expect(server.query('a').key).not.to.equal(server.query('a', { valueColumns: ['b'] }).key);
    expect(server.query('a').key + server.query('a').description).not.to.include('secret');
  });

  it('parses no error that is more than a code and a text', async () => {
    const body = JSON.stringify({ message: 'told', more: Array.from({ length: 1000 }, () => ({})) });
    await using system = await setUp({ status: 500, body });
    expect(await errorOf(system.server.query(FLUX).run(signal))).to.equal(
      `Cannot query 127.0.0.1:${system.loopback.port}: status 500`,
    );
  });
});

async function setUp({ status = 200, body }: { readonly status?: number; readonly body: string }) {
  const stack = new AsyncDisposableStack();
  const loopback = stack.use(
    await LoopbackServer.start((_, response) => void response.writeHead(status).end(body)),
  );
  const http = stack.use(
    new HttpClient({
      clock: new ManualClock(),
      allowedHosts: new AllowedHosts(['127.0.0.1']),
      userAgent: 'spec',
      credentials: fixedCredentials({ authorization: 'Token secret' }),
    }),
  );
  const server = new InfluxdbServer({ http, url: new URL('/influx/', loopback.url), org: 'my org' });
  return { loopback, server, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
