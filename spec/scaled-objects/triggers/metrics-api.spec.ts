import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { expect } from 'chai';
import type { ServiceEndpoints } from '#lib/scaled-objects/triggers/cluster-lookups.ts';
import { metricsApiTrigger } from '#lib/scaled-objects/triggers/metrics-api.ts';
import type { TriggerRequest } from '#lib/scaled-objects/triggers/trigger.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { planned } from '#spec/support/planned-trigger.ts';
import { triggerClients } from '#spec/support/trigger-clients.ts';
import { until } from '#spec/support/until.ts';

const JSON_BODY = '{"a":{"b":[{"n":3},{"n":"1500m"}],"bad":"x"},"queues":[{"name":"q","depth":7}]}';
const EXPOSITION = '# TYPE depth gauge\ndepth{queue="a"} 4\ndepth{queue="b",x="}"} 5 1700000000000\n';

describe('metricsApiTrigger', () => {
  const clients = triggerClients();
  let endpoints: readonly ServiceEndpoints[] = [];
  let requested: unknown;
  const trigger = metricsApiTrigger({
    ...{ clients, clock: new ManualClock(), timeoutMs: 60_000, sharedServiceNamespaces: ['orders'] },
    listEndpoints: async (service) => {
      requested = service;
      return endpoints;
    },
  });
  const send = async (metadata: Record<string, string>, more: Partial<TriggerRequest> = {}) => {
    const request = { metadata: { valueLocation: 'a', targetValue: '5', ...metadata }, ...more };
    return await (await planned(trigger, request)).send();
  };

  after(() => clients[Symbol.asyncDispose]());

  it('reads the number at a place in JSON, YAML and an exposition', async () => {
    let body = JSON_BODY;
    await using server = await LoopbackServer.start((_, response) => void response.end(body));
    const url = server.url.href;
    const at = async (valueLocation: string, format = 'json') =>
      (await send({ url, valueLocation, format })).value;
    expect(await at('a.b.0.n')).to.equal(3);
    expect(await at('a.b.1.n')).to.equal(1.5);
    expect(await at('a.b.#')).to.equal(2);
    expect(await at('queues.#(name=="q").depth')).to.equal(7);
    body = 'a:\n  b: 2Ki\n';
    expect(await at('a.b', 'yaml')).to.equal(2048);
    body = EXPOSITION;
    expect(await at('depth{queue="b"}', 'prometheus')).to.equal(5);
    expect(await at('depth', 'prometheus')).to.equal(4);
  });

  it('is active above the activation value, and not at it', async () => {
    await using server = await LoopbackServer.start((_, response) => void response.end('{"a":4}'));
    const isActive = async (activationTargetValue: string) =>
      (await send({ url: server.url.href, activationTargetValue })).isActive;
    expect(await isActive('3.9')).to.equal(true);
    expect(await isActive('4')).to.equal(false);
  });

  it('reports why a response is invalid', async () => {
    let [status, body] = [200, JSON_BODY];
    await using server = await LoopbackServer.start(
      (_, response) => void response.writeHead(status).end(body),
    );
    const of = (valueLocation: string, format = 'json') =>
      errorOf(send({ url: `${server.url.href}path?x=1`, valueLocation, format }));
    const prefix = 'error requesting metrics endpoint: ';
    expect(await of('a.bad')).to.equal(
      `${prefix}valueLocation "a.bad" points to a string that is not parseable as a Quantity`,
    );
    expect(await of('a')).to.equal(
      `${prefix}valueLocation "a" must point to a numeric value or a string parseable as a Quantity, got object`,
    );
    expect(await of('none')).to.equal(`${prefix}value none not found`);
    expect(await of('none', 'prometheus')).to.equal(`${prefix}metric 'none' not found`);
    expect(await of('a', 'xml')).to.match(/format xml is not supported; use json, yaml or prometheus/);
    [status, body] = [201, JSON_BODY];
    expect(await of('a.b.0.n')).to.equal(`${prefix}/path: api returned 201`);
    status = 302;
    expect(await of('a.b.0.n')).to.equal(`${prefix}/path: api returned 302 (redirects are not followed)`);
    expect(await errorOf(send({ url: 'ftp://a' }))).to.match(/parameter "url" must be a URL/);
    expect(await errorOf(send({ url: server.url.href, targetValue: '0' }))).to.equal(
      'no targetValue given in metadata',
    );
  });

  it('authenticates by each of the modes', async () => {
    await using server = await LoopbackServer.start((_, response) => void response.end('{"a":1}'));
    const url = server.url.href;
    const observed = async (metadata: Record<string, string>, authentication: Record<string, string>) => {
      await send({ url, ...metadata }, { authentication });
      return server.requests.at(-1);
    };
    const key = { apiKey: 'a-key' };
    expect((await observed({ authMode: 'apiKey' }, key))?.headers['x-api-key']).to.equal('a-key');
    expect(
      (await observed({ authModes: 'apiKey', keyParamName: 'X-Other' }, key))?.headers['x-other'],
    ).to.equal('a-key');
    expect((await observed({ authModes: 'apiKey', method: 'query' }, key))?.url.search).to.equal(
      '?api_key=a-key',
    );
    const login = { username: 'user', password: 'pass' };
    expect((await observed({ authModes: 'basic' }, login))?.headers.authorization).to.equal(
      'Basic dXNlcjpwYXNz',
    );
    expect((await observed({ authModes: 'bearer' }, { token: 't' }))?.headers.authorization).to.equal(
      'Bearer t',
    );
    const custom = { customAuthHeader: 'X-Tenant', customAuthValue: 'me' };
    expect((await observed({ authModes: 'custom' }, custom))?.headers['x-tenant']).to.equal('me');
    const both = (await observed({ authModes: ' custom , ,bearer,' }, { token: 't', ...custom }))?.headers;
    expect(both).to.include({ authorization: 'Bearer t', 'x-tenant': 'me' });
    for (const authModes of ['', ' ', ',']) {
      const { headers } = (await observed({ authModes }, { token: 't', ...key, ...login, ...custom })) ?? {};
      expect(headers).to.not.have.any.keys('authorization', 'x-api-key', 'x-tenant');
    }
    const refused = (authModes: string) => errorOf(send({ url, authModes }, { authentication: {} }));
    expect(await refused('oauth')).to.equal('parameter "authModes" value "oauth" is not supported');
    expect(await refused('basic,bearer')).to.match(/must contain only one of \[bearer basic\]/);
    expect(await refused('magic')).to.match(/must be one of \[apiKey basic tls bearer custom\]/);
    expect(await refused('bearer')).to.match(/missing required parameter "bearerToken" in \[authParams\]/);
  });

  it('aggregates the ready endpoints of a Service that respond', async () => {
    const values: Record<string, number | undefined> = {
      '127.0.0.1': 2,
      '127.0.0.2': 6,
      '127.0.0.3': undefined,
    };
    await using stack = new AsyncDisposableStack();
    const paths: string[] = [];
    const addresses = Object.keys(values);
    const port = await listenAt(addresses, stack, (request, response) => {
      paths.push(request.url ?? '');
      const value = values[request.socket.localAddress ?? ''];
      response.writeHead(value === undefined ? 500 : 200).end(`{"a":${value ?? 0}}`);
    });
    endpoints = [
      { addresses, ports: [port] },
      { addresses: ['127.0.0.1'], ports: [port] }, // repeated
    ];
    const url = `http://shop.orders.svc:${port}/depth?x=1`;
    const aggregate = async (more: Record<string, string> = {}) =>
      await send({ url, aggregateFromKubeServiceEndpoints: 'true', ...more });
    expect((await aggregate()).value).to.equal(4);
    expect(requested).to.deep.equal({ service: 'shop', namespace: 'orders' });
    expect(new Set(paths)).to.deep.equal(new Set(['/depth?x=1']));
    expect((await aggregate({ aggregationType: 'min' })).value).to.equal(2);
    for (const aggregationType of ['sum', 'max'])
      expect(await errorOf(aggregate({ aggregationType }))).to.equal(
        `1 of 3 endpoints have no value, and ${aggregationType} requires the values of all endpoints: error requesting metrics endpoint: /depth: api returned 500`,
      );
    values['127.0.0.3'] = 1;
    for (const [aggregationType, value] of [
      ['sum', 9],
      ['max', 6],
      ['min', 1],
      ['average', 3],
    ] as const)
      expect((await aggregate({ aggregationType })).value).to.equal(value);
    values['127.0.0.3'] = undefined;
    paths.length = 0;
    await send(
      { url, aggregateFromKubeServiceEndpoints: 'true', authModes: 'apiKey', method: 'query' },
      { authentication: { apiKey: 'a-key' } },
    );
    expect(new Set(paths)).to.deep.equal(new Set(['/depth?x=1&api_key=a-key']));
    expect(await errorOf(aggregate({ aggregationType: 'median' }))).to.match(/must be one of/);
    endpoints = [{ addresses: ['127.0.0.3'], ports: [port] }];
    expect(await errorOf(aggregate())).to.match(/api returned 500/);
    endpoints = [];
    expect(await errorOf(aggregate())).to.equal('Service orders/shop has no ready endpoint');
    expect(await errorOf(aggregate({ url: 'http://127.0.0.1/' }))).to.match(
      /must have the host SERVICE.NAMESPACE/,
    );
  });

  it('rejects a Service of another namespace unless a flag shares it', async () => {
    const listEndpoints = async () => [];
    const plans = async (host: string, sharedServiceNamespaces: readonly string[]) => {
      const trigger = metricsApiTrigger({
        ...{ clients, clock: new ManualClock(), timeoutMs: 3000, listEndpoints, sharedServiceNamespaces },
      });
      const metadata = { url: `http://${host}/`, valueLocation: 'a', targetValue: '5' };
      await planned(trigger, {
        ...{ metadata: { ...metadata, aggregateFromKubeServiceEndpoints: 'true' }, namespace: 'team-1' },
      });
      return 'planned';
    };
    expect(await errorOf(plans('shop.team-2', []))).to.equal(
      'parameter "url" must name a Service in namespace team-1: the flag --shared-service-namespaces of the autoscaler does not name team-2',
    );
    expect(await errorOf(plans('shop.team-2.svc', ['team-3', 'team-1']))).to.match(/does not name team-2/);
    expect(await plans('shop.team-1.svc', [])).to.equal('planned');
    expect(await plans('shop.team-2', ['team-3', 'team-2'])).to.equal('planned');
    expect(await plans('shop.team-2', ['*'])).to.equal('planned');
  });

  it('waits for its timeout, and for endpoints of a Service no longer than theirs', async () => {
    const fleet = { listEndpoints: async () => [], sharedServiceNamespaces: ['*'] };
    const trigger = metricsApiTrigger({ clients, clock: new ManualClock(), timeoutMs: 3000, ...fleet });
    const waits = async (more: Record<string, string>) => {
      const metadata = { url: 'http://shop.orders/', valueLocation: 'a', targetValue: '5', ...more };
      return (await planned(trigger, { metadata })).query.timeoutMs;
    };
    expect(await waits({})).to.equal(undefined);
    expect(await waits({ timeout: '40s' })).to.equal(41_000);
    expect(await waits({ timeout: '40s', aggregateFromKubeServiceEndpoints: 'true' })).to.equal(15_000);
  });

  it('has the values of the endpoints that responded before the deadline', async () => {
    await using stack = new AsyncDisposableStack();
    const clock = new ManualClock();
    const addresses = [1, 2, 3, 4, 5, 6, 7].map((last) => `127.0.0.${last}`);
    let requestedAddresses: string[] = [];
    const port = await listenAt(addresses, stack, ({ socket: { localAddress = '' } }, response) => {
      requestedAddresses.push(localAddress);
      if (localAddress === '127.0.0.1') response.end('{"a":3}'); // the others never respond
    });
    const listEndpoints = async () => [{ addresses, ports: [port] }];
    const slow = metricsApiTrigger({
      ...{ clients, clock, timeoutMs: 60_000, listEndpoints, sharedServiceNamespaces: [] },
    });
    const url = `http://shop.default:${port}/`;
    const over = async (aggregationType: string) => {
      requestedAddresses = [];
      const metadata = { url, valueLocation: 'a', targetValue: '5', aggregationType };
      const plan = await planned(slow, {
        metadata: { ...metadata, aggregateFromKubeServiceEndpoints: 'true' },
      });
      expect(plan.query.timeoutMs).to.equal(15_000);
      const reported = plan.send().then(({ value }) => value, describeError);
      await until(clock, () => requestedAddresses.length === 6);
      await clock.advance(14_000);
      return await reported;
    };
    expect(await over('average')).to.equal(3);
    expect(requestedAddresses).to.not.include('127.0.0.7'); // the time did not suffice for it
    expect(await over('sum')).to.equal(
      '6 of 7 endpoints have no value, and sum requires the values of all endpoints: Service default/shop has no value within 14s',
    );
    expect(clock.sleeperCount).to.equal(0);
  });
});

/** Starts servers at some addresses, all on the same port. */
async function listenAt(
  addresses: readonly string[],
  stack: AsyncDisposableStack,
  listener: RequestListener,
): Promise<number> {
  let port = 0;
  for (const address of addresses) {
    const server = createServer(listener);
    await once(server.listen(port, address), 'listening');
    const bound = server.address();
    port = typeof bound === 'object' && bound ? bound.port : 0;
    stack.defer(() => {
      server.closeAllConnections();
      server.close();
    });
  }
  return port;
}
