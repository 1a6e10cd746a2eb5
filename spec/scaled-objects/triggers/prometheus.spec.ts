import { expect } from 'chai';
import { prometheusTrigger } from '#lib/scaled-objects/triggers/prometheus.ts';
import { EmptyResponseError } from '#lib/sources/sample.ts';
import { systemClock } from '#lib/time/clock.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { requireProgram } from '#spec/support/machine-programs.ts';
import { planned } from '#spec/support/planned-trigger.ts';
import { startPrometheus } from '#spec/support/real-prometheus.ts';
import { triggerClients } from '#spec/support/trigger-clients.ts';

const LOST = "prometheus metrics 'prometheus' target may be lost, ";
const result = (...values: readonly unknown[]) => ({
  status: 'success',
  data: { resultType: 'vector', result: values.map((value) => ({ metric: {}, value })) },
});

describe('prometheusTrigger', () => {
  const clients = triggerClients();
  const trigger = prometheusTrigger({ clients, clock: systemClock, timeoutMs: 14_000 });
  const request = async (serverAddress: string, more: Record<string, string> = {}, authentication = {}) => {
    const metadata = { serverAddress, query: 'q', threshold: '5', ...more };
    return await (await planned(trigger, { metadata, authentication })).send();
  };

  after(() => clients[Symbol.asyncDispose]());

  it('waits for its timeout', async () => {
    const metadata = { serverAddress: 'http://prometheus', query: 'q', threshold: '5' };
    expect((await planned(trigger, { metadata })).query.timeoutMs).to.equal(undefined);
    const slow = await planned(trigger, { metadata: { ...metadata, timeout: '30000' } });
    expect(slow.query.timeoutMs).to.equal(31_000);
  });

  it('reads the result of a query of a real Prometheus, and its error', async function () {
    const binary = await requireProgram(this, 'prometheus');
    await using exporter = await LoopbackServer.start((_, response) => {
      response.setHeader('content-type', 'text/plain');
      response.end('queue_depth{queue="a"} 3\nqueue_depth{queue="b"} 4.5\nbroken NaN\n');
    });
    await using prometheus = await startPrometheus(binary, [exporter.url.host]);
    const at = prometheus.url.href;
    const query = 'sum(queue_depth)';
    while ((await request(at, { query })).value !== 7.5)
      await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await request(at, { query, activationThreshold: '7.5' })).to.deep.equal({
      value: 7.5,
      isActive: false,
    });
    expect((await request(at, { query, activationThreshold: '7' })).isActive).to.equal(true);
    expect((await request(at, { query: 'absent_metric' })).value).to.equal(0);
    const lost = { query: 'absent_metric', ignoreNullValues: 'false' };
    expect(await errorOf(request(at, lost))).to.equal(`${LOST}the result is empty`);
    expect((await request(at, { query: 'broken' })).value).to.equal(0);
    expect(await errorOf(request(at, { query: 'broken', ignoreNullValues: 'false' }))).to.match(
      /result is NaN$/,
    );
    expect(await errorOf(request(at, { query: 'queue_depth' }))).to.equal(
      'prometheus query queue_depth returned multiple elements',
    );
    expect(await errorOf(request(at, { query: 'sum(' }))).to.match(
      /^prometheus query api returned error\. status: 400: .*parse error/,
    );
    expect(await errorOf(request(at, { query: 'scalar(vector(1))' }))).to.match(
      /use vector\(\) or an aggregation$/,
    );
  });

  it('sends the parameters and headers of the metadata, and the credentials', async () => {
    await using server = await LoopbackServer.start(
      (_, response) => void response.end(JSON.stringify(result([1, '2']))),
    );
    const more = { queryParameters: 'a=b c,d=e', namespace: 'n', customHeaders: 'X-Scope-OrgID=t' };
    const bearer = { authModes: 'bearer', bearerToken: 'token' };
    await request(`${server.url.href}prefix/`, { ...more, authModes: 'bearer' }, bearer);
    const { url, headers, method } = server.requests[0] ?? {};
    expect([method, url?.pathname]).to.deep.equal(['GET', '/prefix/api/v1/query']);
    const { time, ...sent } = Object.fromEntries(url?.searchParams ?? []);
    expect(sent).to.deep.equal({ query: 'q', a: 'b c', d: 'e', namespace: 'n' });
    expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect([headers?.authorization, headers?.['x-scope-orgid']]).to.deep.equal(['Bearer token', 't']);
  });

  it("reports the server's error for a query, if it has one", async () => {
    let status = 400;
    let body =
      '{"status":"error","errorType":"bad_data","error":"1:5: parse error: unclosed left parenthesis"}';
    await using server = await LoopbackServer.start((_, response) => {
      response.statusCode = status;
      response.end(body);
    });
    expect(await errorOf(request(server.url.href, {}))).to.equal(
      'prometheus query api returned error. status: 400: 1:5: parse error: unclosed left parenthesis',
    );
    body = '<html>';
    expect(await errorOf(request(server.url.href, {}))).to.equal(
      'prometheus query api returned error. status: 400',
    );
    status = 302;
    expect(await errorOf(request(server.url.href, {}))).to.equal(
      'prometheus query api returned error. status: 302 (redirects are not followed)',
    );
  });

  it('parses responses by their type', async () => {
    let body = '';
    await using server = await LoopbackServer.start((_, response) => void response.end(body));
    const reported = async (value: unknown, ignoreNullValues = 'true') => {
      body = JSON.stringify(value);
      return await request(server.url.href, { ignoreNullValues }).then(({ value }) => value, String);
    };
    expect(await reported(result([1, '2.5']))).to.equal(2.5);
    expect(await reported(result([1, null]))).to.equal(0);
    for (const value of ['NaN', '+Inf', '-Inf']) {
      expect(await reported(result([1, value]))).to.equal(0);
      expect(await reported(result([1, value]), 'false')).to.match(new RegExp(`${LOST}the result is`));
    }
    expect(await reported(result([]))).to.equal(0);
    expect(await reported(result([]), 'false')).to.match(/the value list is empty$/);
    expect(await reported(result([1]))).to.match(/prometheus query q didn't return enough values$/);
    expect(await reported(result([1, 'x']))).to.match(/prometheus query q returned no number$/);
    body = 'no JSON';
    expect(await request(server.url.href).catch(String)).to.match(/the response is not valid JSON$/);
    body = JSON.stringify(result());
    const empty = await request(server.url.href, { ignoreNullValues: 'false' }).catch((error) => error);
    expect(empty).to.be.instanceOf(EmptyResponseError);
  });
});
