import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { versionInfo } from '#lib/program.ts';
import { buildSeries, kedaSeries, registeredSeries } from '#lib/scaled-objects/observability/keda-series.ts';
import { debugOptions, preparedTrigger } from '#spec/support/scaled-object-reports.ts';
import {
  PATHS,
  type ScaledObjectsCluster,
  startScaledObjectsCluster,
} from '#spec/support/scaled-objects-cluster.ts';

describe('kedaSeries', () => {
  it('has the value, activity and failures of each trigger', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/a', 7).set('/b', 0);
    await cluster.deployment('web', 1, { resources: { requests: { cpu: '1' } } });
    const cpu = { type: 'cpu', metricType: 'Utilization', metadata: { value: '50' } };
    const triggers = [cluster.trigger('/a'), cluster.trigger('/b', { name: 'b' }), cpu];
    await cluster.scaledObject('web', { minReplicaCount: 1, triggers });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).startsWith('True'));
    const labels = (index: number, scaler: string) =>
      `{namespace="default",metric="s${index}-metric-api-value",scaledObject="web",scaler="${scaler}",triggerIndex="${index}",type="scaledobject"}`;
    const [first, second] = [labels(0, 'metricsAPIScaler'), labels(1, 'b')];
    expect(await lines(cluster, 'keda_scaler_metrics_value')).to.deep.equal([`${first} 7`, `${second} 0`]);
    expect(await lines(cluster, 'keda_scaler_active')).to.deep.equal([
      `${first} 1`,
      `${second} 0`,
      '{namespace="default",metric="cpu",scaledObject="web",scaler="cpuMemoryScaler",triggerIndex="2",type="scaledobject"} 1',
    ]);
    expect(await lines(cluster, 'keda_scaler_detail_errors_total')).to.deep.equal([
      `${first} 0`,
      `${second} 0`,
    ]);
    expect((await lines(cluster, 'keda_scaler_metrics_latency_seconds'))[0]).to.match(/"scaledobject"\} 0/);
    expect(await lines(cluster, 'keda_internal_scale_loop_latency_seconds')).to.deep.equal([
      '{namespace="default",type="scaledobject",resource="web"} 0',
    ]);
    cluster.source.set('/a', { status: 500 });
    await cluster.elapse(16);
    await cluster.untilMet(
      async () => (await lines(cluster, 'keda_scaler_detail_errors_total'))[0] === `${first} 1`,
    );
    expect(await lines(cluster, 'keda_scaled_object_errors_total')).to.deep.equal([
      '{namespace="default",scaledObject="web"} 1',
    ]);
    expect(await lines(cluster, 'keda_scaler_metrics_value')).to.deep.equal([`${second} 0`]);
    expect(await lines(cluster, 'keda_scaled_object_paused')).to.deep.equal([
      '{namespace="default",scaledObject="web"} 0',
    ]);
    expect(await lines(cluster, 'keda_trigger_registered_total')).to.deep.equal([
      '{type="metrics-api"} 2',
      '{type="cpu"} 1',
    ]);
    expect(await lines(cluster, 'keda_resource_registered_total')).to.deep.equal([
      '{type="scaled_object",namespace="default"} 1',
    ]);
    await cluster.api.delete(`${PATHS.scaledObjects}/web`);
    await cluster.untilMet(async () => (await lines(cluster, 'keda_scaler_active')).length === 0);
  });

  it('counts HTTP requests of each trigger by status, also if triggers share them', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/a', 7);
    for (const name of ['web', 'worker']) {
      await cluster.deployment(name, 1);
      await cluster.scaledObject(name, { triggers: [cluster.trigger('/a', { name: 'queue' })] });
    }
    await cluster.lead();
    const counted = () => lines(cluster, 'keda_scaler_http_requests_total');
    const labels = (name: string, status: string) =>
      `{namespace="default",scaled_resource="${name}",scaler="queue",trigger_name="queue",metric_name="s0-metric-api-value",status_code="${status}"}`;
    await cluster.untilMet(async () => (await counted()).length === 2);
    expect(await counted()).to.deep.equal([`${labels('web', '200')} 1`, `${labels('worker', '200')} 1`]);
    cluster.source.set('/a', { status: 503 });
    await cluster.elapse(16);
    await cluster.untilMet(async () => (await counted()).includes(`${labels('worker', '503')} 1`));
    const durations = await lines(cluster, 'keda_scaler_http_request_duration_seconds_count');
    expect(durations).to.include('{scaler="queue",status_code="200"} 1');
    expect(durations).to.include('{scaler="queue",status_code="503"} 1');
  });

  it('has the value of a formula, and continues after an invalid one', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/a', 7);
    const advanced = (formula: string) => ({ scalingModifiers: { formula, target: '2' } });
    for (const [name, formula] of [
      ['good', 'a * 2'],
      ['broken', 'a +'],
    ] as const) {
      await cluster.deployment(name, 1);
      const triggers = [cluster.trigger('/a', { name: 'a' })];
      await cluster.scaledObject(name, { triggers, advanced: advanced(formula) });
    }
    await cluster.lead();
    const composite = async () =>
      (await lines(cluster, 'keda_scaler_metrics_value')).filter((line) => line.includes('composite'));
    await cluster.untilMet(async () => (await composite()).length > 0);
    expect(await composite()).to.deep.equal([
      '{namespace="default",metric="composite-metric",scaledObject="good",scaler="composite-metric",triggerIndex="0",type="scaledobject"} 14',
    ]);
  });

  it('counts responses of Prometheus without a value, whether they are errors or not', async () => {
    await using cluster = await startScaledObjectsCluster();
    const empty = { status: 'success', data: { resultType: 'vector', result: [] } };
    const prometheus = createServer((_request, response) => void response.end(JSON.stringify(empty)));
    await once(prometheus.listen(0, '127.0.0.1'), 'listening');
    try {
      const { port } = prometheus.address() as AddressInfo;
      const trigger = (name: string, more: object = {}) => ({
        ...{ type: 'prometheus', name },
        metadata: { serverAddress: `http://127.0.0.1:${port}`, query: 'up', threshold: '1', ...more },
      });
      await cluster.deployment('web', 1);
      const triggers = [trigger('zero'), trigger('error', { ignoreNullValues: 'false' })];
      await cluster.scaledObject('web', { triggers: [...triggers, cluster.trigger('/a')] });
      await cluster.lead();
      const labels = (index: number, name: string, isIgnored: boolean) =>
        `{namespace="default",scaledResource="web",triggerName="${name}",metricName="s${index}-prometheus",resourceType="ScaledObject",ignoreNullValues="${isIgnored}"}`;
      const counted = async () =>
        (await lines(cluster, 'keda_scaler_empty_upstream_responses_total')).join(' ');
      const expected = (count: number) =>
        `${labels(0, 'zero', true)} ${count} ${labels(1, 'error', false)} ${count}`;
      await cluster.untilMet(async () => (await counted()) === expected(1));
      await cluster.elapse(16);
      await cluster.untilMet(async () => (await counted()) === expected(2));
      expect((await lines(cluster, 'keda_scaler_metrics_value')).join()).to.match(
        /metric="s0-prometheus".* 0$/,
      );
    } finally {
      prometheus.closeAllConnections();
      prometheus.close();
    }
  });

  it('counts failures of a ScaledJob, and objects whose triggers cannot be used', async () => {
    await using cluster = await startScaledObjectsCluster();
    await cluster.create(PATHS.scaledJobs, {
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledJob', metadata: { name: 'work' } },
      spec: {
        jobTargetRef: { template: { spec: { containers: [{ name: 'main', image: 'worker' }] } } },
        triggers: [cluster.trigger('/absent')],
      },
    });
    await cluster.deployment('web', 1);
    await cluster.scaledObject('web', { triggers: [{ type: 'kafka', metadata: {} }] });
    await cluster.lead();
    const failed = async (name: string) => (await lines(cluster, name)).join('\n');
    const job = /^\{namespace="default",scaledJob="work"\} [1-9]\d*$/;
    await cluster.untilMet(async () => job.test(await failed('keda_scaled_job_errors_total')));
    const object = /^\{namespace="default",scaledObject="web"\} [1-9]\d*$/;
    await cluster.untilMet(async () => object.test(await failed('keda_scaled_object_errors_total')));
    expect((await lines(cluster, 'keda_scaler_active'))[0]).to.contain('type="scaledjob"');
  });

  it('has all series with the names, help texts, types and labels of KEDA', () => {
    const spec = { scaleTargetRef: { name: 'web' }, triggers: [] };
    const formula = (text: string, more: object = {}) => ({
      ...{ ...spec, ...more, triggers: [{ type: 'redis', name: 'q', metadata: {} }] },
      advanced: { scalingModifiers: { formula: text, target: '2' } },
    });
    const object = (name: string, given: object, annotations = {}) => ({
      ...{ metadata: { namespace: 'shop', name, annotations }, spec: given },
    });
    const fallback = { failureThreshold: 1, replicas: 3 };
    const lost = { kind: 'fallback', error: new Error('refused') } as const;
    const reported = debugOptions({
      objects: [
        object('web', spec, { 'autoscaling.keda.sh/paused': 'true' }),
        object('good', formula('q + 1')),
        object('bad', formula('q +', { fallback })),
        object('new', formula('q')),
      ] as never,
      jobs: [object('work', { jobTargetRef: {}, triggers: [] })] as never,
      triggers: {
        'shop/web': [
          preparedTrigger('redis', { name: 'q', metric: { metricName: 's0' } }),
          preparedTrigger('prometheus', { index: 1, metric: { metricName: 's1', isEmptyZero: true } }),
          preparedTrigger('cpu', {
            index: 2,
            scaler: 'cpuMemoryScaler',
            resource: { resource: 'cpu' } as never,
          }),
        ],
        'shop/good': [preparedTrigger('redis', { name: 'q', metric: { metricName: 's2' } })],
        'shop/bad': [preparedTrigger('redis', { name: 'q', metric: { metricName: 's3' } })],
        'shop/work': [preparedTrigger('cron', { metric: { metricName: 's4', isEmptyZero: false } })],
      },
      metrics: {
        s0: {
          ...{ state: { kind: 'value', values: [12, 7], isActive: true, atMs: 0 }, tookMs: 250 },
          ...{ record: { failedCount: 2, latenessMs: 1500 }, statuses: { 200: 5, 503: 1 } },
        },
        s1: { state: lost, tookMs: 50, record: { failedCount: 4, latenessMs: 500, emptyCount: 6 } },
        s2: { state: { kind: 'value', values: [4], isActive: false, atMs: 0 } },
        s3: { state: lost },
        s4: { state: { kind: 'value', values: [3], isActive: true, atMs: 0 } },
      },
      failedPlans: { 'shop/web': 3 },
    });
    const names = 'namespace="shop",metric';
    const at = (object: string, scaler: string, index: number, kind = 'scaledobject') =>
      `scaledObject="${object}",scaler="${scaler}",triggerIndex="${index}",type="${kind}"`;
    const [web, prometheus] = [at('web', 'q', 0), at('web', 'prometheusScaler', 1)];
    const all = (name: string, values: readonly (string | number)[]) =>
      [
        ...[`="s0",${web}`, `="s1",${prometheus}`, `="s2",${at('good', 'q', 0)}`],
        ...[`="s3",${at('bad', 'q', 0)}`, `="s4",${at('work', 'cronScaler', 0, 'scaledjob')}`],
      ].map((labels, index) => `${name}{${names}${labels}} ${values[index]}`);
    const active = all('keda_scaler_active', [1, 1, 0, 0, 1]);
    active[3] = active[3]?.replace(/0$/, '1') ?? ''; // by its fallback
    const paused = (name: string, value: number) =>
      `keda_scaled_object_paused{namespace="shop",scaledObject="${name}"} ${value}`;
    const errors = (name: string, value: number) =>
      `keda_scaled_object_errors_total{namespace="shop",scaledObject="${name}"} ${value}`;
    const requests = (status: number, value: number) =>
      `keda_scaler_http_requests_total{namespace="shop",scaled_resource="web",scaler="q",trigger_name="q",metric_name="s0",status_code="${status}"} ${value}`;
    const empty = (name: string, metric: string, kind: string, isZero: boolean, value: number) =>
      `keda_scaler_empty_upstream_responses_total{namespace="shop",scaledResource="${name}",triggerName="",metricName="${metric}",resourceType="${kind}",ignoreNullValues="${isZero}"} ${value}`;
    const latency = (type: string, name: string, value: number) =>
      `keda_internal_scale_loop_latency_seconds{namespace="shop",type="${type}",resource="${name}"} ${value}`;
    expect([...kedaSeries(reported).slices()].join('').trimEnd().split('\n')).to.deep.equal([
      '# HELP keda_scaler_metrics_value Value of the last poll of a trigger; absent while the trigger fails',
      '# TYPE keda_scaler_metrics_value gauge',
      `keda_scaler_metrics_value{${names}="s0",${web}} 19`,
      `keda_scaler_metrics_value{${names}="s2",${at('good', 'q', 0)}} 4`,
      `keda_scaler_metrics_value{${names}="composite-metric",${at('good', 'composite-metric', 0)}} 5`,
      `keda_scaler_metrics_value{${names}="s4",${at('work', 'cronScaler', 0, 'scaledjob')}} 3`,
      '# HELP keda_scaler_metrics_latency_seconds Duration of the last poll of a trigger, in seconds',
      '# TYPE keda_scaler_metrics_latency_seconds gauge',
      `keda_scaler_metrics_latency_seconds{${names}="s0",${web}} 0.25`,
      `keda_scaler_metrics_latency_seconds{${names}="s1",${prometheus}} 0.05`,
      '# HELP keda_scaler_active Whether a trigger is active (1) or not (0)',
      '# TYPE keda_scaler_active gauge',
      ...active.slice(0, 2),
      `keda_scaler_active{${names}="cpu",${at('web', 'cpuMemoryScaler', 2)}} 1`,
      ...active.slice(2),
      '# HELP keda_scaler_detail_errors_total Failed polls of a trigger',
      '# TYPE keda_scaler_detail_errors_total counter',
      ...all('keda_scaler_detail_errors_total', [2, 4, 0, 0, 0]),
      '# HELP keda_scaler_empty_upstream_responses_total Polls of a trigger whose response had no value',
      '# TYPE keda_scaler_empty_upstream_responses_total counter',
      ...[empty('web', 's1', 'ScaledObject', true, 6), empty('work', 's4', 'ScaledJob', false, 0)],
      '# HELP keda_scaler_http_requests_total HTTP requests that a trigger sent, by status code of the response',
      '# TYPE keda_scaler_http_requests_total counter',
      ...[requests(200, 5), requests(503, 1)],
      '# HELP keda_scaled_object_paused Whether a ScaledObject is paused (1) or not (0)',
      '# TYPE keda_scaled_object_paused gauge',
      ...[paused('web', 1), paused('good', 0), paused('bad', 0), paused('new', 0)],
      '# HELP keda_scaled_object_errors_total Failures of the triggers of a ScaledObject',
      '# TYPE keda_scaled_object_errors_total counter',
      ...[errors('web', 9), errors('good', 0), errors('bad', 0), errors('new', 0)],
      '# HELP keda_scaled_job_errors_total Failures of the triggers of a ScaledJob',
      '# TYPE keda_scaled_job_errors_total counter',
      'keda_scaled_job_errors_total{namespace="shop",scaledJob="work"} 0',
      '# HELP keda_internal_scale_loop_latency_seconds How late the last polls of an object started, for the trigger with the largest delay, in seconds',
      '# TYPE keda_internal_scale_loop_latency_seconds gauge',
      ...[latency('scaledobject', 'web', 1.5), latency('scaledobject', 'good', 0)],
      ...[latency('scaledobject', 'bad', 0), latency('scaledjob', 'work', 0)],
      '# HELP autoscaler_scaled_objects_omitted_series Namespaces with so many series that the others are omitted (1)',
      '# TYPE autoscaler_scaled_objects_omitted_series gauge',
    ]);
  });

  it('omits series of a namespace beyond 16 MiB', () => {
    const spec = { scaleTargetRef: { name: 'web' }, triggers: [] };
    const metadata = { namespace: 'shop', name: 'web' };
    const name = 'n'.repeat(100_000);
    const many = Array.from({ length: 15_000 }, (_, index) =>
      preparedTrigger('redis', { name, scaler: name, index, metric: { metricName: `s${index}` } }),
    );
    const reported = debugOptions({
      objects: [
        { metadata, spec },
        { metadata: { ...metadata, namespace: 'bank' }, spec },
      ] as never,
      triggers: {
        'shop/web': many,
        'bank/web': [preparedTrigger('redis', { name, metric: { metricName: 'b' } })],
      },
      metrics: Object.fromEntries(
        [...many.keys()].map((index) => [
          `s${index}`,
          { state: { kind: 'value', values: [1], isActive: true, atMs: 0 }, tookMs: 5 } as const,
        ]),
      ),
    });
    const text = [...kedaSeries(reported).slices()].join('');
    expect(text.length).to.be.below(17 * 1024 * 1024);
    expect(text).to.contain('keda_scaler_active{namespace="bank"');
    expect(text.trimEnd().split('\n').at(-1)).to.equal(
      'autoscaler_scaled_objects_omitted_series{namespace="shop"} 1',
    );
  });
});

/** The labels and values of all samples of a series. */
async function lines(cluster: ScaledObjectsCluster, name: string): Promise<readonly string[]> {
  const exposition = await cluster.series();
  const samples = exposition.split('\n').filter((line) => line.startsWith(`${name}{`));
  return samples.map((line) => line.slice(name.length));
}

describe('buildSeries', () => {
  it('describes the program with the labels of KEDA', () => {
    const info = versionInfo({ version: 'v24.1.0', platform: 'linux', arch: 'x64' });
    const series = buildSeries({ ...info, gitVersion: 'v1.2.3' });
    expect([...series.slices()].join('')).to.equal(
      '# HELP keda_build_info Version and platform of this program\n# TYPE keda_build_info gauge\n' +
        'keda_build_info{version="v1.2.3",git_commit="",goversion="nodev24.1.0",goos="linux",goarch="amd64"} 1\n',
    );
  });
});

describe('registeredSeries', () => {
  it('counts triggers of unsupported types together, since users may write any text', () => {
    const object = (...types: readonly string[]) => ({
      metadata: { name: 'a', namespace: 'shop' },
      spec: { triggers: types.map((type) => ({ type, metadata: {} })) },
    });
    const objects = [object('redis', 'a\nb'), object('redis', 'cron'), object('__proto__')];
    const kinds = { scaled_object: { values: () => objects } };
    const types = { has: (type: string) => ['redis', 'cron'].includes(type) };
    const slices = [...registeredSeries({ kinds, types }).slices()];
    expect(slices.length).to.be.above(objects.length); // not one block
    expect(
      slices
        .join('')
        .split('\n')
        .filter((line) => line.startsWith('keda_')),
    ).to.deep.equal([
      'keda_trigger_registered_total{type="redis"} 2',
      'keda_trigger_registered_total{type="other"} 2',
      'keda_trigger_registered_total{type="cron"} 1',
      'keda_resource_registered_total{type="scaled_object",namespace="shop"} 3',
    ]);
  });
});
