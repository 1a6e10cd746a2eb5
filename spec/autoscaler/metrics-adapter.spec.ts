import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { startAutoscaler } from '#lib/autoscaler/autoscaler.ts';
import { parseAutoscalerOptions } from '#lib/autoscaler/options/autoscaler-options.ts';
import { versionInfo } from '#lib/program.ts';
import { elapseUntil } from '#spec/support/elapse-until.ts';
import { requestHttps } from '#spec/support/https-request.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { PodServers } from '#spec/support/pod-servers.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { externalMetric, hpaObject, objectMetric, podsMetric } from '#spec/support/scaled-hpas.ts';
import { startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const HPAS = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
const PODS = '/api/v1/namespaces/default/pods';
const EXTERNAL = '/apis/external.metrics.k8s.io/v1beta1';
const CUSTOM = '/apis/custom.metrics.k8s.io/v1beta2';

describe('openMetricsAdapter, in the autoscaler', () => {
  it('serves the query of an HPA from Prometheus, and the cause once that does not respond', async () => {
    await using system = await start();
    const annotations = {
      'metric-config.external.queue-depth.prometheus/query': 'sum(queue_depth)',
      'metric-config.external.queue-depth.prometheus/interval': '10s',
      'metric-config.object.rate.prometheus/query': 'sum(rate)',
    };
    const metrics = [
      externalMetric('queue-depth', { type: 'prometheus' }),
      objectMetric('rate', { apiVersion: 'v1', kind: 'Service', name: 'web' }),
      externalMetric('broken', { type: 'prometheus' }),
    ];
    const created = await system.server.client.post(HPAS, hpaObject({ annotations, metrics }));
    expect(created.status).to.equal(201);
    const external = `${EXTERNAL}/namespaces/default/Queue-Depth?labelSelector=type%3Dprometheus`;
    await system.passes(async () => (await system.get(external)).items?.length === 1);
    const [item] = (await system.get(external)).items ?? [];
    expect(item).to.deep.include({
      metricName: 'queue-depth',
      metricLabels: { type: 'prometheus' },
      value: '1500m',
    });
    const object = await system.get(`${CUSTOM}/namespaces/default/services/web/rate`);
    expect(object.items?.[0]).to.deep.include({ metric: { name: 'rate', selector: null }, value: '1500m' });
    expect((await system.get(`${EXTERNAL}/namespaces/other/queue-depth`)).items).to.deep.equal([]);
    expect((await system.get(EXTERNAL)).resources?.map(({ name }) => name)).to.deep.equal(['queue-depth']);

    const debug = await system.get('/debug/metrics');
    expect(debug.problems).to.deep.equal([
      {
        hpa: 'default/web',
        metric: 'External/broken',
        error: 'Metric External/broken has neither the setting "query" nor "query-name"',
      },
    ]);
    await system.passes(async () => (await system.events()).length === 1);

    system.body = '{"status":"success","data":{"resultType":"vector","result":[]}}';
    await system.passes(async () => (await system.get(external)).code === 500);
    const { message } = await system.get(external);
    expect(message).to.match(/^Cannot collect External\/queue-depth: .* the query returned no result$/);
    await system.passes(async () => (await system.events()).length === 3);
    expect(await system.events()).to.include.members([
      'Failed to create new metrics collector: Metric External/broken has neither the setting "query" nor "query-name"',
      message,
    ]);
    await system.server.client.delete(`${HPAS}/web`);
    await system.passes(async () => (await system.get(EXTERNAL)).resources?.length === 0);
  });
});

describe('openMetricsAdapter, in the autoscaler, with pods', () => {
  it('serves metrics of each ready pod by its labels, and none of deleted pods', async () => {
    await using pods = await PodServers.start({
      '127.0.0.2': (_, response) => response.end('{"rps": 2.5}'),
      '127.0.0.3': (_, response) => response.end('{"rps": 4}'),
    });
    await using system = await start(['--allowed-hosts=127.0.0.0/8']);
    const { client } = system.server;
    await client.post('/apis/apps/v1/namespaces/default/deployments', {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
      },
    });
    for (const [name, podIP] of [
      ['web-a', '127.0.0.2'],
      ['web-b', '127.0.0.3'],
    ] as const) {
      await client.post(PODS, {
        ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: { app: 'web', pod: name } } },
        spec: { containers: [{ name: 'a', image: 'a' }] },
      });
      const { body } = await client.get(`${PODS}/${name}`);
      const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }];
      const status = { phase: 'Running', podIP, conditions };
      const written = await client.put(`${PODS}/${name}/status`, { ...body, status });
      expect(written.status).to.equal(200);
    }
    const annotations = {
      'metric-config.pods.rps.json-path/json-key': '$.rps',
      'metric-config.pods.rps.json-path/port': String(pods.port),
      'metric-config.pods.rps.json-path/interval': '10s',
    };
    await client.post(HPAS, hpaObject({ annotations, metrics: [podsMetric('rps')] }));
    const all = `${CUSTOM}/namespaces/default/pods/*/rps`;
    await system.passes(async () => (await system.get(all)).items?.length === 2);
    const valuesOf = async (path: string) =>
      ((await system.get(path)).items ?? []).map((item) => {
        const { describedObject, value } = item as { describedObject: { name: string }; value: string };
        return [describedObject.name, value];
      });
    expect(await valuesOf(`${all}?labelSelector=app%3Dweb`)).to.deep.equal([
      ['web-a', '2500m'],
      ['web-b', '4'],
    ]);
    expect(await valuesOf(`${all}?labelSelector=pod%3Dweb-b`)).to.deep.equal([['web-b', '4']]);
    expect(await valuesOf(`${all}?labelSelector=app%3Dother`)).to.deep.equal([]);
    expect(await valuesOf(`${CUSTOM}/namespaces/default/pods/web-a/rps`)).to.deep.equal([['web-a', '2500m']]);
    await client.delete(`${PODS}/web-a`);
    await system.passes(async () => (await valuesOf(all)).length === 1);
    expect(await valuesOf(all)).to.deep.equal([['web-b', '4']]);
  });

  it('serves a number of an allowed JSON endpoint, and reports forbidden hosts', async () => {
    await using shop = await LoopbackServer.start((_, response) => void response.end('{"orders": [3, 4]}'));
    await using system = await start([`--allowed-hosts=${shop.url.hostname}`]);
    const place = 'metric-config.external.orders.json-path';
    const annotations = {
      [`${place}/endpoint`]: shop.url.href.replace('//', '//me:secret@'),
      [`${place}/json-eval`]: 'sum($.orders)',
      'metric-config.external.meta.json-path/endpoint': 'http://169.254.169.254/latest/meta-data',
      'metric-config.external.meta.json-path/json-key': '$',
    };
    const metrics = [
      externalMetric('orders', { type: 'json-path' }),
      externalMetric('meta', { type: 'json-path' }),
    ];
    await system.server.client.post(HPAS, hpaObject({ annotations, metrics }));
    const path = `${EXTERNAL}/namespaces/default/orders`;
    await system.passes(async () => (await system.get(path)).items?.length === 1);
    expect((await system.get(path)).items?.[0]).to.deep.include({
      metricLabels: { type: 'json-path' },
      value: '7',
    });
    expect(shop.requests[0]?.headers.authorization).to.match(/^Basic /);
    const isRefused = async () =>
      ((await system.get('/debug/metrics')).collected ?? []).some(({ error = '' }) =>
        error.endsWith('is refused unless --allowed-hosts lists it or its range'),
      );
    await system.passes(isRefused);
    expect(JSON.stringify(await system.get('/debug/metrics'))).not.to.include('secret');
  });

  it('reports once that a query returned several samples, and serves the labels of the first', async () => {
    await using system = await start();
    const result = ['a', 'b'].map((queue) => ({ metric: { queue }, value: [1767225600, '1'] }));
    system.body = JSON.stringify({ status: 'success', data: { resultType: 'vector', result } });
    const metrics = [externalMetric('depth', { type: 'prometheus', query: 'depth' })];
    await system.server.client.post(HPAS, hpaObject({ metrics }));
    await system.passes(async () => (await system.events()).length > 0);
    const [item] = (await system.get(`${EXTERNAL}/namespaces/default/depth`)).items ?? [];
    expect(item).to.deep.include({ metricLabels: { queue: 'a', type: 'prometheus', query: 'depth' } });
    await system.server.clock.advance(180_000);
    expect(await system.events()).to.deep.equal([
      'External/depth: The query returned 2 samples; the first is used',
    ]);
    const [reported] = (await system.get('/debug/metrics')).collected ?? [];
    expect(reported?.notes).to.deep.equal(['The query returned 2 samples; the first is used']);
  });

  it('lets the labels of described objects select their metrics', async () => {
    await using system = await start();
    const { client } = system.server;
    await client.post('/api/v1/namespaces/default/services', {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', labels: { tier: 'front' } } },
      spec: { ports: [{ port: 80 }] },
    });
    const annotations = { 'metric-config.object.rate.prometheus/query': 'rate' };
    const metrics = [objectMetric('rate', { apiVersion: 'v1', kind: 'Service', name: 'web' })];
    await client.post(HPAS, hpaObject({ annotations, metrics }));
    const all = `${CUSTOM}/namespaces/default/services/*/rate`;
    await system.passes(async () => (await system.get(all)).items?.length === 1);
    const countOf = async (selector: string) =>
      (await system.get(`${all}?labelSelector=${encodeURIComponent(selector)}`)).items?.length;
    expect(await countOf('tier=front')).to.equal(1);
    expect(await countOf('tier=back')).to.equal(0);
  });

  it('reports why a per-replica value is not served while the HPA has no replicas', async () => {
    await using system = await start();
    const { client } = system.server;
    const place = 'metric-config.object.rate.prometheus';
    const annotations = { [`${place}/query`]: 'rate', [`${place}/per-replica`]: '' };
    const metrics = [objectMetric('rate', { apiVersion: 'v1', kind: 'Service', name: 'web' })];
    await client.post(HPAS, hpaObject({ annotations, metrics }));
    const state = async () => (await system.get('/debug/metrics')).collected?.[0];
    await system.passes(async () => (await state())?.value !== undefined);
    expect(await state()).to.deep.include({
      isServed: false,
      notes: ['The value is served per replica, but the status of the HPA has no replicas'],
    });
    const { body } = await client.get(`${HPAS}/web`);
    await client.put(`${HPAS}/web/status`, { ...body, status: { currentReplicas: 3, desiredReplicas: 3 } });
    await system.passes(async () => (await state())?.isServed === true);
    expect(await state()).to.deep.include({ notes: [] });
    const { items = [] } = await system.get(`${CUSTOM}/namespaces/default/services/web/rate`);
    expect(items[0]).to.deep.include({ value: '500m' });
  });

  it('does not mix values of two HPAs for a cluster-scoped object', async () => {
    await using system = await start();
    const { client } = system.server;
    await client.post('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'other' },
    });
    const metrics = [objectMetric('rate', { apiVersion: 'v1', kind: 'Namespace', name: 'default' })];
    const hpaIn = (namespace: string, query: string) =>
      hpaObject({ namespace, annotations: { 'metric-config.object.rate.prometheus/query': query }, metrics });
    await client.post(HPAS, hpaIn('default', 'first'));
    const path = `${CUSTOM}/namespaces/default/metrics/rate`;
    await system.passes(async () => (await system.get(path)).items?.length === 1);
    await system.server.clock.advance(2000);
    await client.post(HPAS.replace('default', 'other'), hpaIn('other', 'second'));
    await system.passes(async () => ((await system.get('/debug/metrics')).problems ?? []).length === 1);
    expect((await system.get('/debug/metrics')).problems).to.deep.equal([
      {
        hpa: 'other/web',
        metric: 'Object/rate',
        error:
          'HPA default/web already collects Object/rate of Namespace default by another query, or divides the value by the replicas of another target. Rename one of the two metrics, because requests cannot distinguish them',
      },
    ]);
    await client.delete(`${HPAS}/web`);
    await system.passes(async () => ((await system.get('/debug/metrics')).problems ?? []).length === 0);
  });

  it('does not mix values of two HPAs for an object if one is divided by replicas', async () => {
    await using system = await start();
    const { client } = system.server;
    const metrics = [objectMetric('rate', { apiVersion: 'v1', kind: 'Service', name: 'web' })];
    const hpaOf = (name: string, settings: object) => {
      const annotations = Object.entries({ query: 'sum(rate)', ...settings }).map(([setting, value]) => [
        `metric-config.object.rate.prometheus/${setting}`,
        value,
      ]);
      return hpaObject({ name, annotations: Object.fromEntries(annotations), metrics });
    };
    const problems = async () => (await system.get('/debug/metrics')).problems ?? [];
    await client.post(HPAS, hpaOf('first', {}));
    await system.passes(async () => (await system.get('/debug/metrics')).collected?.length === 1);
    await system.server.clock.advance(2000);
    await client.post(HPAS, hpaOf('second', { 'per-replica': 'true' }));
    await system.passes(async () => (await problems()).length === 1);
    expect(await problems()).to.deep.equal([
      {
        hpa: 'default/second',
        metric: 'Object/rate',
        error:
          'HPA default/first already collects Object/rate of Service web by another query, or divides the value by the replicas of another target. Rename one of the two metrics, because requests cannot distinguish them',
      },
    ]);
  });

  it('serves an External metric by the query of the first HPA, and reports that to the other', async () => {
    await using system = await start();
    const { client } = system.server;
    const hpaOf = (name: string, metric: string, query: string) =>
      hpaObject({
        name,
        annotations: { [`metric-config.external.${metric}.prometheus/query`]: query },
        metrics: [externalMetric(metric)],
      });
    await client.post(HPAS, hpaOf('worker', 'queue-depth', 'sum(queue_depth)'));
    const path = `${EXTERNAL}/namespaces/default/queue-depth`;
    const count = async () => (await system.get(path)).items?.length;
    await system.passes(async () => (await count()) === 1);
    await system.server.clock.advance(2000);
    await client.post(HPAS, hpaOf('mailer', 'Queue-Depth', 'max(queue_depth)*2'));
    await client.post(HPAS, hpaOf('twin', 'queue-depth', 'sum(queue_depth)'));
    const problems = async () => (await system.get('/debug/metrics')).problems ?? [];
    await system.passes(async () => (await problems()).length === 1);
    const error =
      'HPA default/worker already collects External/Queue-Depth by another query. Rename one of the two metrics, because an HPA would use the sum of both';
    expect(await problems()).to.deep.equal([
      { hpa: 'default/mailer', metric: 'External/Queue-Depth', error },
    ]);
    expect(await count()).to.equal(1);
    await system.passes(async () => (await system.events()).length === 1);
    expect(await system.events()).to.deep.equal([`Failed to create new metrics collector: ${error}`]);
    await client.delete(`${HPAS}/worker`);
    await client.delete(`${HPAS}/twin`);
    await system.passes(async () => (await problems()).length === 0);
    await system.passes(async () => (await count()) === 1);
  });

  it('logs at most a hundred problems per namespace and hour, and shows all of them', async () => {
    await using system = await start();
    const metrics = Array.from({ length: 60 }, (_, index) =>
      externalMetric(`broken-${index}`, { type: 'prometheus' }),
    );
    for (const name of ['a', 'b']) await system.server.client.post(HPAS, hpaObject({ name, metrics }));
    await system.passes(async () => ((await system.get('/debug/metrics')).problems ?? []).length === 120);
    const logged = system.logger.lines.filter(({ message }) => message === 'Cannot collect metric of HPA');
    expect(logged).to.have.lengthOf(100);
  });

  for (const flag of ['--skipper-ingress-metrics', '--skipper-routegroup-metrics', '--external-rps-metrics'])
    it(`warns that ${flag} has no effect without a Prometheus server`, async () => {
      await using system = await start([flag, '--prometheus-server=']);
      const warnings = system.logger.lines.filter(({ level }) => level === 'warning');
      expect(warnings.map(({ message }) => message)).to.deep.equal([
        'Metrics of Skipper are disabled: they require --prometheus-server',
      ]);
      await using served = await start([flag]);
      expect(served.logger.lines.filter(({ level }) => level === 'warning')).to.deep.equal([]);
    });

  it('rejects a server with two credentials', async () => {
    const flags = [
      '--prometheus-server=http://me:secret@prometheus',
      '--prometheus-server-token-file=/nowhere',
    ];
    let error: unknown;
    await start(flags).catch((cause: unknown) => {
      error = cause;
    });
    expect(String(error)).to.equal(
      'Error: --prometheus-server must have credentials in its URL or in a token file, not both',
    );
  });
});

interface Body {
  readonly items?: readonly object[];
  readonly code?: number;
  readonly message?: string;
  readonly resources?: readonly { readonly name: string }[];
  readonly problems?: readonly object[];
  readonly collected?: readonly {
    readonly value?: number;
    readonly isServed?: boolean;
    readonly error?: string;
    readonly notes?: readonly string[];
  }[];
}

async function start(more: readonly string[] = []) {
  await using starting = new AsyncDisposableStack(); // ends what has started if the rest fails
  const server = starting.use(await startSimulatedApiServer({ clock: new ManualClock(Date.now()) }));
  const { clock } = server;
  const logger = new RecordingLogger();
  const system = {
    ...{ server, logger },
    body: '{"status":"success","data":{"resultType":"scalar","result":[1767225600,"1.5009"]}}',
    async get(path: string): Promise<Body> {
      const url = `https://127.0.0.1:${autoscaler.address.port}${path}`;
      const { certificatePem: cert, privateKeyPem: key } = server.cluster.pki.admin;
      const { body } = await requestHttps(url, { cert, key, rejectUnauthorized: false });
      return JSON.parse(body);
    },
    async events(): Promise<readonly string[]> {
      const { body } = await server.client.get('/apis/events.k8s.io/v1/namespaces/default/events');
      return body.items.map(({ note }: { readonly note: string }) => note);
    },
    async passes(isSo: () => Promise<boolean>): Promise<void> {
      await elapseUntil(clock, 200, isSo);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
  const prometheus = starting.use(
    await LoopbackServer.start((_, response) => void response.end(system.body)),
  );
  const flags = [
    '--bind-address=127.0.0.1',
    '--secure-port=0',
    '--controllers=',
    `--cert-dir=${join(dirname(server.kubeconfig), 'autoscaler')}`,
    `--prometheus-server=${prometheus.url.href}`,
    ...more,
  ];
  const commandLine = parseAutoscalerOptions(flags);
  if (commandLine.kind !== 'run') throw new Error('these flags run it');
  const autoscaler = starting.use(
    await startAutoscaler(commandLine.options, {
      ...{ access: await server.access(), clock, logger, identity: 'a' },
      version: versionInfo(process),
    }),
  );
  const stack = starting.move();
  return system;
}
