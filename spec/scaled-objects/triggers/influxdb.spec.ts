import { expect } from 'chai';
import { influxdbTrigger } from '#lib/scaled-objects/triggers/influxdb.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { planned } from '#spec/support/planned-trigger.ts';
import { triggerClients } from '#spec/support/trigger-clients.ts';

const HEAD = '#datatype,string,long,double\r\n,result,table,_value\r\n';

describe('influxdbTrigger', () => {
  const stack = new AsyncDisposableStack();
  const trigger = influxdbTrigger({ clients: stack.use(triggerClients()) });
  let server: LoopbackServer;
  let reported: { status: number; body: string };

  before(async () => {
    server = stack.use(
      await LoopbackServer.start(
        (_, response) => void response.writeHead(reported.status).end(reported.body),
      ),
    );
  });

  beforeEach(() => {
    reported = { status: 200, body: '' };
    server.requests.splice(0);
  });

  after(() => stack.disposeAsync());

  const plan = (metadata: Record<string, string>, authentication: Record<string, string> = {}) =>
    planned(trigger, {
      metadata: { serverURL: server.url.href, query: 'of what', thresholdValue: '4.5', ...metadata },
      authentication: { authToken: 'hidden', ...authentication },
    });
  const TWO = { organizationName: 'team' };
  const THREE = { influxVersion: '3', database: 'apps', metricKey: 'depth' };

  it('takes the first row of a query in Flux', async () => {
    reported.body = `${HEAD},_result,0,7.5\r\n,_result,0,9\r\n`;
    const metric = await plan({ ...TWO, activationThresholdValue: '7.5' });
    expect(metric).to.include({ name: 'influxdb-team', target: 4.5 });
    expect(await metric.send()).to.deep.equal({ value: 7.5, isActive: false });
    const [request] = server.requests;
    expect(request?.url.search).to.equal('?org=team');
    expect(request?.headers.authorization).to.equal('Token hidden');
    expect(metric.query.key + metric.query.description).to.not.contain('hidden');
    reported.body = HEAD;
    expect(await errorOf(metric.send())).to.match(/returned no result$/);
  });

  it('reads a column of the last row of a query of version 3, and 0 without rows', async () => {
    const metric = await plan(THREE);
    expect(metric.name).to.equal('influxdb-apps');
    reported.body = '{"depth":1}\n{"host":"a","depth":12.5}\n\n';
    expect(await metric.send()).to.deep.equal({ value: 12.5, isActive: true });
    reported.body = ' \n';
    expect(await metric.send()).to.deep.equal({ value: 0, isActive: false });
    await (await plan({ ...THREE, queryType: 'flightSQL' })).send();
    expect(server.requests.map(({ url, body }) => `${url.pathname} ${body}`)).to.deep.equal([
      ...Array(2).fill('/api/v3/query_influxql {"db":"apps","q":"of what","format":"jsonl"}'),
      '/api/v3/query_sql {"db":"apps","q":"of what","format":"jsonl"}',
    ]);
  });

  it('reports why a response cannot be used', async () => {
    const metric = await plan(THREE);
    const wrong = async (body: string, status = 200) => {
      reported = { status, body };
      return await errorOf(metric.send());
    };
    for (const [value, type] of [
      ['"12"', 'string'],
      ['null', 'null'],
      ['true', 'boolean'],
      ['{}', 'object'],
    ])
      expect(await wrong(`{"depth":${value}}`)).to.match(
        new RegExp(`value of type ${type} could not be converted into a float$`),
      );
    expect(await wrong('{"other":1}')).to.match(/type undefined could not be converted/);
    expect(await wrong('{"__proto__":{"depth":1}}')).to.match(/type undefined could not be converted/);
    expect(await wrong('[1]')).to.match(/not a valid response of InfluxDB 3$/);
    expect(await wrong('depth=1')).to.match(/the response is not valid JSON$/);
    expect(await wrong('no such database', 404)).to.match(/status 404: no such database$/);
  });

  it('names the invalid parameter', async () => {
    const refusal = (metadata: Record<string, string>) => errorOf(plan(metadata));
    expect(await refusal({})).to.equal('missing required parameter "organizationName"');
    expect(await refusal({ ...TWO, serverURL: 'influx:8086' })).to.match(
      /^parameter "serverURL" must be a URL/,
    );
    expect(await refusal({ ...TWO, query: '' })).to.match(/^missing required parameter "query"/);
    expect(await refusal({ ...TWO, thresholdValue: '' })).to.equal('no threshold value given');
    expect(await refusal({ ...TWO, thresholdValue: 'x' })).to.match(/not a number$/);
    expect(await refusal({ ...TWO, authToken: 'a' })).to.match(/^authToken must not be set in the metadata/);
    expect(await refusal({ ...TWO, influxVersion: '1' })).to.match(/must be one of \[2 3\]$/);
    expect(await refusal({ ...THREE, database: '' })).to.equal('missing required parameter "database"');
    expect(await refusal({ ...THREE, metricKey: '' })).to.equal('missing required parameter "metricKey"');
    expect(await refusal({ ...THREE, queryType: 'Flux' })).to.match(/must be one of \[InfluxQL FlightSQL\]$/);
    expect(
      (await planned(trigger, { metadata: { ...TWO, serverURL: 'http://a', query: 'b' }, hasFormula: true }))
        .target,
    ).to.equal(0);
  });
});
