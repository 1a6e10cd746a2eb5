import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { startAutoscaler } from '#lib/autoscaler/autoscaler.ts';
import { parseAutoscalerOptions } from '#lib/autoscaler/options.ts';
import { versionInfo } from '#lib/version.ts';
import { eventually } from '#spec/support/eventually.ts';
import { requestHttps } from '#spec/support/https-request.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { externalMetric, hpaObject, objectMetric } from '#spec/support/scaled-hpas.ts';
import { startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const HPAS = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
const EXTERNAL = '/apis/external.metrics.k8s.io/v1beta1';
const CUSTOM = '/apis/custom.metrics.k8s.io/v1beta2';

describe('metricsAdapterPart', function () {
  this.timeout(60_000);

  it('serves what Prometheus says of the query of an HPA, and nothing once it is silent', async () => {
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
        error: 'Query or query-name is missing of metric External/broken',
      },
    ]);
    await system.passes(async () => (await system.events()).length === 1);

    system.body = '{"status":"success","data":{"resultType":"vector","result":[]}}';
    await system.passes(async () => (await system.get(external)).items?.length === 0);
    expect(await system.events()).to.deep.equal([
      'Failed to create new metrics collector: Query or query-name is missing of metric External/broken',
    ]);
    await system.server.client.delete(`${HPAS}/web`);
    await system.passes(async () => (await system.get(EXTERNAL)).resources?.length === 0);
  });
});

interface Body {
  readonly items?: readonly object[];
  readonly resources?: readonly { readonly name: string }[];
  readonly problems?: readonly object[];
}

async function start() {
  const stack = new AsyncDisposableStack();
  const server = stack.use(await startSimulatedApiServer({ clock: new ManualClock(Date.now()) }));
  const { clock } = server;
  const system = {
    server,
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
      await eventually(async () => {
        await clock.advance(200);
        return await isSo();
      });
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
  const prometheus = stack.use(await LoopbackServer.start((_, response) => void response.end(system.body)));
  const flags = [
    '--bind-address=127.0.0.1',
    '--secure-port=0',
    '--controllers=',
    `--cert-dir=${join(dirname(server.kubeconfig), 'autoscaler')}`,
    `--prometheus-server=${prometheus.url.href}`,
  ];
  const commandLine = parseAutoscalerOptions(flags);
  if (commandLine.kind !== 'run') throw new Error('these flags run it');
  const autoscaler = stack.use(
    await startAutoscaler(commandLine.options, {
      ...{ access: await server.access(), clock, logger: new RecordingLogger(), identity: 'a' },
      version: versionInfo(process),
    }),
  );
  return system;
}
