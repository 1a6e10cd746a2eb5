import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { expect } from 'chai';
import { readScaledHpa } from '#lib/metrics-adapter/collected-metrics.ts';
import { podsCollector } from '#lib/metrics-adapter/collectors/pods-collector.ts';
import { planCollectors } from '#lib/metrics-adapter/plans/plan-collectors.ts';
import { type TargetPod, TargetPods } from '#lib/metrics-adapter/targets/target-pods.ts';
import type { TargetSelectors } from '#lib/metrics-adapter/targets/target-selectors.ts';
import { HttpClients } from '#lib/sources/http/http-clients.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { PodServers } from '#spec/support/pod-servers.ts';
import { podsMetric, readHpaObject } from '#spec/support/scaled-hpas.ts';

const signal = new AbortController().signal;
const NOW_MS = Date.UTC(2026, 0, 1);

describe('podsCollector', () => {
  it('polls every ready pod of the target that has an address, and no other', async () => {
    const requested: string[] = [];
    const serve: RequestListener = ({ url = '', socket }, response) => {
      requested.push(`${socket.localAddress}${url}`);
      response.end(`{"rps": ${Number(socket.localAddress?.split('.')[3]) * 10}}`);
    };
    await using system = await setUp({ '127.0.0.2': serve, '127.0.0.3': serve, '127.0.0.4': serve });
    system.pods.push(
      pod({ name: 'a', ip: '127.0.0.2' }),
      pod({ name: 'b', ip: '127.0.0.3' }),
      pod({ name: 'unready', ip: '127.0.0.4', readySinceMs: undefined }),
      pod({ name: 'other', ip: '127.0.0.4', labels: { app: 'other' } }),
      pod({ name: 'elsewhere', ip: '127.0.0.4', namespace: 'else' }),
      pod({ name: 'without', ip: undefined }),
    );
    const { query } = system.plan({ path: '/metrics/x', 'raw-query': 'a=b', 'json-key': '$.rps' });
    expect(query.description).to.equal(
      `$.rps in /metrics/x at port ${system.port} of the pods of Deployment default/web`,
    );
    expect(await query.run(signal)).to.deep.equal([
      { value: 20, labels: { pod: 'a', uid: 'uid-a' } },
      { value: 30, labels: { pod: 'b', uid: 'uid-b' } },
    ]);
    expect(requested.sort()).to.deep.equal(['127.0.0.2/metrics/x?a=b', '127.0.0.3/metrics/x?a=b']);
  });

  it('is not delayed by a pod that hangs', async () => {
    const hangs = Promise.withResolvers<void>();
    await using system = await setUp({
      '127.0.0.2': (_, response) => response.end('{"rps": 1}'),
      '127.0.0.3': () => hangs.resolve(),
      '127.0.0.4': (_, response) => response.writeHead(500).end(),
    });
    for (const last of [2, 3, 4]) system.pods.push(pod({ name: `p${last}`, ip: `127.0.0.${last}` }));
    const notes: string[] = [];
    const { query } = system.plan({ 'request-timeout': '3s', 'json-key': '$.rps' });
    const pending = query.run(signal, (note) => notes.push(note));
    await hangs.promise;
    await system.clock.advance(3000);
    expect((await pending).map(({ labels }) => labels.pod)).to.deep.equal(['p2']);
    expect(notes).to.deep.equal([
      `p3 has no value: Cannot query 127.0.0.3:${system.port}: no response within 3s`,
      `p4 has no value: Cannot query 127.0.0.4:${system.port}: status 500`,
    ]);
  });

  const waits: readonly (readonly [string, Readonly<Record<string, string>>, number])[] = [
    ['two of its intervals', { interval: '2s' }, 4000],
    ['two of the intervals that count where it has none', {}, 8000],
    ['15 s where its interval is long', { interval: '1m' }, 15_000],
    ['as long as it says, whatever its interval', { interval: '2s', 'request-timeout': '10s' }, 10_000],
  ];
  for (const [what, settings, maxMs] of waits)
    it(`waits for one that hangs for ${what}`, async () => {
      const hangs = Promise.withResolvers<void>();
      await using system = await setUp({
        '127.0.0.2': (_, response) => response.end('{"rps": 1}'),
        '127.0.0.3': () => hangs.resolve(),
      });
      for (const last of [2, 3]) system.pods.push(pod({ name: `p${last}`, ip: `127.0.0.${last}` }));
      const notes: string[] = [];
      const pending = system
        .plan({ ...settings, 'json-key': '$.rps' })
        .query.run(signal, (note) => notes.push(note));
      await hangs.promise;
      await system.clock.advance(maxMs);
      expect((await pending).map(({ labels }) => labels.pod)).to.deep.equal(['p2']);
      expect(notes).to.deep.equal([
        `p3 has no value: Cannot query 127.0.0.3:${system.port}: no response within ${maxMs / 1000}s`,
      ]);
    });

  it('polls over TLS where the scheme is https', async () => {
    await using system = await setUp({ '127.0.0.2': (_, response) => response.end('1') });
    system.pods.push(pod({ name: 'a', ip: '127.0.0.2' }));
    const { query } = system.plan({ scheme: 'https', 'json-key': '$' });
    expect(await errorOf(query.run(signal))).to.match(
      /^None of 1 pods has a value; first failure: a: Cannot query 127\.0\.0\.2:\d+: .*SSL routines/,
    );
  });

  it('waits for a connection up to the connect timeout, by its clock', async () => {
    await using silent = net.createServer((socket) => void socket.on('error', () => {}).resume());
    await once(silent.listen(0, '127.0.0.2'), 'listening');
    await using system = await setUp({});
    system.pods.push(pod({ name: 'a', ip: '127.0.0.2' }));
    const port = String((silent.address() as AddressInfo).port);
    const timeouts = { 'connect-timeout': '30s', 'request-timeout': '60s' };
    const { query } = system.plan({ port, scheme: 'https', ...timeouts, 'json-key': '$' });
    let error: unknown;
    const connected = once(silent, 'connection');
    const failed = errorOf(query.run(signal)).then((found) => {
      error = found;
    });
    await connected;
    await system.clock.advance(29_999);
    expect(error).to.equal(undefined);
    await system.clock.advance(1);
    await failed;
    expect(error).to.match(
      /^None of 1 pods has a value; first failure: a: Cannot query 127\.0\.0\.2:\d+: no connection within 30s$/,
    );
  });

  it('uses defaults for absent settings, and the maximum for a timeout of 0', async () => {
    await using system = await setUp({});
    const keyOf = (settings: Readonly<Record<string, string>>) =>
      system.plan({ 'json-key': '$', interval: '1m', ...settings }).query.key;
    const defaults = { scheme: 'http', path: '/', 'request-timeout': '15s', 'connect-timeout': '15s' };
    for (const [name, value] of Object.entries({ ...defaults, 'min-pod-ready-age': '0s', 'raw-query': '' }))
      expect(keyOf({ [name]: value }), name).to.equal(keyOf({}));
    for (const name of ['request-timeout', 'connect-timeout'])
      expect(keyOf({ [name]: '0' }), name)
        .to.equal(keyOf({ [name]: '60s' }))
        .and.not.to.equal(keyOf({}));
  });

  it('fails where no pod has a value, and returns nothing where there is no pod', async () => {
    await using system = await setUp({ '127.0.0.2': (_, response) => response.end('{"rps": "many"}') });
    const { query } = system.plan({ 'json-eval': '$.rps' });
    expect(await query.run(signal)).to.deep.equal([]);
    system.pods.push(pod({ name: 'a', ip: '127.0.0.2' }));
    expect(await errorOf(query.run(signal))).to.equal(
      'None of 1 pods has a value; first failure: a: the value is of type string, not a number',
    );
  });

  it('doubts the selector when the metric is new, and when it selects no pod', async () => {
    await using system = await setUp({ '127.0.0.2': (_, response) => response.end('1') });
    system.pods.push(pod({ name: 'a', ip: '127.0.0.2' }));
    const { query } = system.plan({ 'json-key': '$' });
    await query.run(signal);
    await query.run(signal);
    expect(system.doubts.splice(0)).to.deep.equal([true, false]);
    system.pods.pop();
    await query.run(signal);
    expect(system.doubts.splice(0)).to.deep.equal([false, true]);
    await system.plan({ 'json-key': '$', path: '/b' }).query.run(signal);
    expect(system.doubts[0]).to.equal(true);
  });

  it('waits until a pod has been ready for long enough', async () => {
    await using system = await setUp({ '127.0.0.2': (_, response) => response.end('[1, 5]') });
    system.pods.push(pod({ name: 'a', ip: '127.0.0.2', readySinceMs: NOW_MS - 20_000 }));
    const { query } = system.plan({ 'min-pod-ready-age': '30s', 'json-key': '$', aggregator: 'max' });
    expect(await query.run(signal)).to.deep.equal([]);
    await system.clock.advance(10_000);
    expect((await query.run(signal)).map(({ value }) => value)).to.deep.equal([5]);
  });

  it('polls at most 40 pods concurrently', async () => {
    let [underWay, max] = [0, 0];
    const release = Promise.withResolvers<void>();
    const full = Promise.withResolvers<void>();
    const serve: RequestListener = async (_, response) => {
      max = Math.max(max, ++underWay);
      if (underWay === 40) full.resolve();
      await release.promise;
      underWay--;
      response.end('{"rps": 1}');
    };
    const addresses = Array.from({ length: 10 }, (_, index) => `127.0.0.${index + 2}`);
    await using system = await setUp(Object.fromEntries(addresses.map((address) => [address, serve])));
    for (let index = 0; index < 150; index++)
      system.pods.push(pod({ name: `p${index}`, ip: addresses[index % 10] }));
    const pending = system.plan({ 'json-key': '$.rps' }).query.run(signal);
    await full.promise;
    release.resolve();
    expect(await pending).to.have.lengthOf(150);
    expect(max).to.equal(40);
  });

  it('never polls loopback and link-local addresses', async () => {
    await using system = await setUp({ '127.0.0.2': (_, response) => response.end('1') }, []);
    for (const ip of ['127.0.0.2', '169.254.169.254', '::1', '::ffff:127.0.0.2', 'fe80::1', 'no address'])
      system.pods.push(pod({ name: ip, ip }));
    expect(await errorOf(system.plan({ 'json-key': '$' }).query.run(signal))).to.match(
      /^None of 5 pods has a value; first failure: 127.0.0.2: Cannot query .*: 127.0.0.2 is not allowed/,
    );
  });

  const wrong: readonly (readonly [string, string, string])[] = [
    ['port', '0', 'must be an integer from 1 to 65535, not "0"'],
    ['port', 'http', 'must be an integer from 1 to 65535, not "http"'],
    ['scheme', 'ftp', 'must be one of http, https, not "ftp"'],
    ['path', '/a?b', 'must be a path of at most 1024 characters, with special characters percent-encoded'],
    ['path', '/a b', 'must be a path of at most 1024 characters, with special characters percent-encoded'],
    [
      'raw-query',
      'a#b',
      'must be a query of at most 1024 characters, with special characters percent-encoded',
    ],
    ['json-key', 'rps', 'must have "$" at character 1, not "rps"'],
    ['json-key', '', 'must not be empty'],
    ['aggregator', 'median', 'must be one of avg, min, max, sum, not "median"'],
    ['request-timeout', '2m', 'must be a duration of 0s to 1m0s, as in 30s, not "2m"'],
    ['connect-timeout', 'soon', 'must be a duration of 0s to 1m0s, as in 30s, not "soon"'],
    ['min-pod-ready-age', '-1s', 'must be a duration of 0s to 24h0m0s, as in 30s, not "-1s"'],
  ];
  for (const [name, value, error] of wrong)
    it(`refuses ${name} ${JSON.stringify(value)}`, async () => {
      await using system = await setUp({});
      expect(system.errorOf({ 'json-key': '$', [name]: value })).to.equal(
        `Annotation metric-config.pods.rps.json-path/${name} ${error}`,
      );
    });

  it('needs one of json-key and json-eval, and a port', async () => {
    await using system = await setUp({});
    expect(system.errorOf({})).to.equal('Metric Pods/rps has neither the setting "json-key" nor "json-eval"');
    expect(system.errorOf({ 'json-key': '$', 'json-eval': '1 +' })).to.equal(
      'Annotation metric-config.pods.rps.json-path/json-eval and Annotation metric-config.pods.rps.json-path/json-key are mutually exclusive',
    );
    expect(system.errorOf({ 'json-eval': '1 +' })).to.equal(
      'Annotation metric-config.pods.rps.json-path/json-eval must have a value at character 4, not the end',
    );
    expect(system.errorOf({ 'json-key': '$', port: undefined })).to.equal(
      'The setting "port" of metric Pods/rps is missing',
    );
  });

  it('reports an unknown setting', async () => {
    await using system = await setUp({});
    expect(system.plan({ 'json-key': '$', 'json-path': '$' }).notes).to.deep.equal([
      'Annotation metric-config.pods.rps.json-path/json-path is not a setting of collector json-path',
    ]);
  });
});

async function setUp(listeners: Readonly<Record<string, RequestListener>>, allowed = ['127.0.0.0/8']) {
  const stack = new AsyncDisposableStack();
  const clock = new ManualClock(NOW_MS);
  const { port } = stack.use(await PodServers.start(listeners));
  const clients = stack.use(
    new HttpClients({ clock, allowedHosts: new AllowedHosts(allowed), userAgent: 'spec' }),
  );
  const pods: TargetPod[] = [];
  const watched = new TargetPods({
    start() {},
    find: () => undefined,
    findBy: (index, word) =>
      pods.filter(({ namespace, labels }) =>
        index === 'namespace' ? namespace === word : word === `${namespace}\napp=${labels.app}`,
      ),
    synced: async () => {},
  });
  const doubts: boolean[] = [];
  const selectors: Pick<TargetSelectors, 'selectorOf'> = {
    async selectorOf(_, { isDoubted = false }) {
      doubts.push(isDoubted);
      return 'app=web';
    },
  };
  const collector = podsCollector({
    ...{ clock, clients, pods: watched, selectors },
    defaultIntervalMs: 4000,
  });
  const planned = (settings: Readonly<Record<string, string | undefined>>) => {
    const annotations = Object.fromEntries(
      Object.entries({ port: String(port || 80), ...settings }).flatMap(([name, value]) =>
        value === undefined ? [] : [[`metric-config.pods.rps.json-path/${name}`, value]],
      ),
    );
    const hpa = readScaledHpa(readHpaObject({ annotations, metrics: [podsMetric('rps')] }));
    if (!hpa) throw new Error('it is an HPA');
    return planCollectors(hpa, [collector]);
  };
  return {
    ...{ clock, port, pods, doubts },
    plan(settings: Readonly<Record<string, string>>) {
      const [first] = planned(settings).planned;
      if (!first) throw new Error(planned(settings).problems[0]?.error.message);
      return first;
    },
    errorOf: (settings: Readonly<Record<string, string | undefined>>) =>
      planned(settings).problems[0]?.error.message,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function pod(given: Partial<TargetPod> & { readonly name: string }): TargetPod {
  return {
    namespace: 'default',
    uid: `uid-${given.name}`,
    labels: { app: 'web' },
    ip: '127.0.0.2',
    readySinceMs: NOW_MS - 60_000,
    ...given,
  };
}
