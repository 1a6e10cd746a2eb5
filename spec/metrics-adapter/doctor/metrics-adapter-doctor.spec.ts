import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { startAutoscaler } from '#lib/autoscaler/autoscaler.ts';
import { parseAutoscalerOptions } from '#lib/autoscaler/options/autoscaler-options.ts';
import { versionInfo } from '#lib/program.ts';
import { elapseUntil } from '#spec/support/elapse-until.ts';
import { eventually } from '#spec/support/eventually.ts';
import { created, examineAutoscaler } from '#spec/support/examined-autoscaler.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { startMetricsApis } from '#spec/support/metrics-apis.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { externalMetric, hpaObject, objectMetric, podsMetric } from '#spec/support/scaled-hpas.ts';
import { startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const HPAS = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
const BOTH = ['custom.metrics.k8s.io', 'external.metrics.k8s.io'] as const;
const RESULT = '{"status":"success","data":{"resultType":"scalar","result":[1767225600,"1.5009"]}}';

/** The finding about a metric that nothing serves. */
const lacking = (group: string, response: string) =>
  `nothing serves this metric: the HPA has no collector for it, and ${group} ${response}`;

describe('metricsAdapterDoctor', () => {
  it('checks each metric from its configuration and source to the API', async () => {
    await using system = await start();
    await system.apply();
    await system.run();
    await system.register(BOTH);
    const { isSound, findings } = await system.examine();
    expect(isSound, JSON.stringify(findings)).to.equal(true);
    const observed = findings
      .filter(({ subject }) => subject.startsWith('hpa ') || subject === 'metrics')
      .map(({ status, subject, seen }) => [status, subject, seen.replace(system.prometheus, 'HOST')]);
    expect(observed).to.deep.equal([
      ['ok', 'metrics', '2 metrics of 1 HPA are collected'],
      ['ok', 'hpa default/web External/queue', 'depth of Prometheus at HOST: 1 value'],
      ['ok', 'hpa default/web Object/rate', 'rate of Prometheus at HOST: 1 value'],
      ['ok', 'hpa default/web Object/rate', 'served: 1500m'],
      ['ok', 'hpa default/web External/queue', 'served: 1500m'],
    ]);
    expect(findings).to.deep.include.members([
      {
        status: 'ok',
        subject: 'APIService v1beta2.custom.metrics.k8s.io',
        seen: 'is available, from kube-system/autoscaler',
      },
      {
        status: 'ok',
        subject: 'APIService v1beta1.external.metrics.k8s.io',
        seen: 'is available, from kube-system/autoscaler',
      },
    ]);
  });

  it('finds nothing to check if no HPA has collected metrics, and needs no APIService then', async () => {
    await using system = await start();
    const { isSound, findings } = await system.examine();
    expect(isSound, JSON.stringify(findings)).to.equal(true);
    expect(findings.filter(({ status }) => status === 'note').map(({ subject }) => subject)).to.deep.equal([
      ...['metrics', ...BOTH, 'sources', 'values'],
    ]);
  });

  it('reports invalid configurations, and continues with the other metrics', async () => {
    await using system = await start();
    await system.apply({ 'metric-config.pods.busy.json-path/port': '0' }, [podsMetric('busy')]);
    await system.run();
    await system.register(BOTH);
    const { diagnoses, findings } = await system.examine();
    expect(diagnoses).to.deep.equal(['metric-not-configured']);
    const failed = findings.find(({ status }) => status === 'failed');
    expect(failed).to.include({ subject: 'hpa default/web Pods/busy' });
    expect(failed).to.have.property('remedy').which.includes('`kubectl -n default edit hpa web`');
    expect(failed?.seen).to.include('metric-config.pods.busy.json-path/port');
  });

  it('reports an External metric that another HPA of the namespace collects by another query', async () => {
    await using system = await start();
    const hpaOf = (name: string, query: string) =>
      hpaObject({
        name,
        annotations: { 'metric-config.external.depth.prometheus/query': query },
        metrics: [externalMetric('depth')],
      });
    await created(system.server, HPAS, hpaOf('worker', 'sum(depth)'));
    await system.server.clock.advance(2000);
    await created(system.server, HPAS, hpaOf('mailer', 'max(depth)'));
    const { diagnoses, findings } = await system.examine();
    expect(diagnoses).to.include('metric-not-configured');
    expect(findings.find(({ subject }) => subject === 'hpa default/mailer External/depth')).to.include({
      status: 'failed',
      seen: 'HPA default/worker already collects External/depth by another query. Rename one of the two metrics, because an HPA would use the sum of both',
    });
    expect(findings.find(({ subject }) => subject === 'metrics')?.seen).to.equal(
      '1 metric of 1 HPA is collected',
    );
  });

  it('reports metrics that require a Prometheus server, with a remedy', async () => {
    await using server = await startSimulatedApiServer({ clock: new ManualClock(Date.now()) });
    const annotations = { 'metric-config.external.queue.prometheus/query': 'depth' };
    await created(server, HPAS, hpaObject({ annotations, metrics: [externalMetric('queue')] }));
    const flags = ['--controllers=', '--enable-custom-metrics-api=true'];
    const { diagnoses, findings } = await examineAutoscaler(server, flags);
    expect(diagnoses).to.deep.equal(['prometheus-server-missing']);
    const failed = findings.find(({ status }) => status === 'failed');
    expect(failed?.seen).to.include('annotation metric-config.external.queue.prometheus/prometheus-server');
    expect(failed).to.have.property('remedy').which.includes('Set --prometheus-server');
    const notes = findings.filter(
      ({ subject }) => subject === 'metrics' || subject.endsWith('metrics.k8s.io'),
    );
    expect(notes.map(({ subject, seen }) => [subject, seen])).to.deep.equal([
      ['metrics', 'no configuration of a collected metric is valid'],
      ['custom.metrics.k8s.io', 'no HPA has a collected metric of this API'],
      [
        'external.metrics.k8s.io',
        'not checked: the configurations of all metrics of this API that HPAs use are invalid',
      ],
    ]);
  });

  it('counts only the HPAs with collected metrics', async () => {
    await using server = await startSimulatedApiServer({ clock: new ManualClock(Date.now()) });
    const annotations = { 'metric-config.external.queue.prometheus/query': 'depth' };
    await created(server, HPAS, hpaObject({ annotations, metrics: [externalMetric('queue')] }));
    const other = hpaObject({ metrics: [externalMetric('of-somebody-else')] });
    await created(server, HPAS, { ...other, metadata: { name: 'other', namespace: 'default' } });
    const flags = ['--controllers=', '--enable-custom-metrics-api=true'];
    const { findings } = await examineAutoscaler(server, [
      ...flags,
      '--prometheus-server=http://127.0.0.1:1',
    ]);
    expect(findings.find(({ subject }) => subject === 'metrics')?.seen).to.equal(
      '1 metric of 1 HPA is collected',
    );
  });

  it('reports a name that differs between annotations and spec, with both and a remedy', async () => {
    await using system = await start();
    await system.apply({ 'metric-config.external.queue-dpth.prometheus/query': 'depth' }, [
      externalMetric('of-somebody-else'),
    ]);
    await system.run();
    await system.register(BOTH);
    const { diagnoses, findings } = await system.examine();
    expect(diagnoses).to.deep.equal(['metric-misnamed']);
    expect(findings.find(({ status }) => status === 'failed'))
      .to.include({ subject: 'hpa default/web External/queue-dpth' })
      .and.to.have.property('remedy')
      .which.includes(
        'The annotations configure External/queue-dpth, which no metric uses, and nothing collects External/of-somebody-else;',
      );
  });

  it('reports metrics APIs that are not registered, or whose server does not respond', async () => {
    await using system = await start();
    await system.apply();
    expect((await system.examine()).diagnoses).to.deep.equal([
      'metrics-api-unregistered',
      'metrics-api-unregistered',
    ]);
    await system.run();
    await system.register(BOTH, 1); // no server listens there
    const { diagnoses, findings } = await system.examine();
    expect(new Set(diagnoses)).to.deep.equal(new Set(['metrics-api-unavailable']));
    expect(findings.find(({ status }) => status === 'failed'))
      .to.have.property('remedy')
      .which.includes('kube-system/autoscaler');
  });

  it('reports another provider of the APIs', async () => {
    await using system = await start();
    await system.apply();
    await using _other = await startMetricsApis(system.server.cluster);
    await eventually(async () => !(await system.examine()).diagnoses.includes('metrics-api-unavailable'));
    const { diagnoses, findings } = await system.examine();
    expect(diagnoses).to.deep.equal(['metrics-api-of-another', 'metrics-api-of-another']);
    expect(findings.find(({ subject, status }) => subject === BOTH[1] && status === 'failed'))
      .to.have.property('remedy')
      .which.includes('to use kube-system/metrics, set --enable-external-metrics-api=false');
  });

  it('reports queries without a result, and their metrics', async () => {
    await using system = await start();
    await system.apply();
    await system.run();
    await system.register(BOTH);
    system.body = '{"status":"success","data":{"resultType":"vector","result":[]}}';
    const { diagnoses, findings } = await system.examine();
    expect(diagnoses).to.deep.equal(['metric-source-silent', 'metric-source-silent']);
    expect(findings.find(({ status }) => status === 'failed')?.seen).to.match(
      /^depth of Prometheus at .*the query returned no result$/,
    );
    expect(findings.find(({ status }) => status === 'failed'))
      .to.have.property('remedy')
      .which.matches(/^Fix the name, path or query of the finding with `kubectl -n default edit hpa web`/);
  });

  it('reports a source that never had a result once', async () => {
    await using system = await start();
    system.body = '{"status":"success","data":{"resultType":"vector","result":[]}}';
    await system.apply();
    await system.run();
    await system.register(BOTH);
    const { diagnoses, findings } = await system.examine();
    expect(diagnoses).to.deep.equal(['metric-source-silent', 'metric-source-silent']);
    const notes = findings.filter(
      ({ seen }) => seen === 'not served, because the query of this metric fails',
    );
    expect(notes.map(({ status, subject }) => [status, subject])).to.deep.equal([
      ['note', 'hpa default/web Object/rate'],
      ['note', 'hpa default/web External/queue'],
    ]);
  });

  it('reports metrics that nothing collects and the API does not have, with a remedy', async () => {
    await using system = await start();
    const service = { apiVersion: 'v1', kind: 'Service', name: 'web' };
    const others = [podsMetric('rps'), objectMetric('hits', service), externalMetric('orders_waiting')];
    await system.apply({}, others);
    await system.run();
    await system.register(BOTH);
    const { isSound, diagnoses, findings } = await system.examine();
    expect(isSound).to.equal(false);
    expect(new Set(diagnoses)).to.deep.equal(new Set(['metric-without-collector']));
    const failed = findings.filter(({ status }) => status === 'failed');
    expect(failed.map(({ subject, seen }) => [subject, seen])).to.deep.equal([
      [
        'hpa default/web Pods/rps',
        lacking(BOTH[0], 'returns status 404: the server could not find the metric rps for pods'),
      ],
      [
        'hpa default/web Object/hits',
        lacking(BOTH[0], 'returns status 404: the server could not find the metric hits for services web'),
      ],
      [
        'hpa default/web External/orders_waiting',
        lacking(
          BOTH[1],
          'returns status 404: the server could not find the metric orders_waiting for namespaces',
        ),
      ],
    ]);
    const [pods, , external] = failed.map((one) => (one.status === 'failed' ? one.remedy : ''));
    expect(pods).to.include(
      'Add the annotation that configures a collector for Pods/rps, metric-config.pods.rps.COLLECTOR/SETTING: `kubectl -n default edit hpa web`; docs/reference/annotations.md',
    );
    expect(external).to.include('for External/orders_waiting, metric-config/collectors: ');
  });

  it('reports a metric that nothing collects if no server of its API responds', async () => {
    await using server = await startSimulatedApiServer({ clock: new ManualClock(Date.now()) });
    await created(server, HPAS, hpaObject({ metrics: [externalMetric('waiting')] }));
    const { diagnoses, findings } = await examineAutoscaler(server, [
      ...['--controllers=', '--enable-custom-metrics-api=true'],
    ]);
    expect(diagnoses).to.deep.equal(['metric-without-collector']);
    expect(findings.find(({ status }) => status === 'failed')).to.include({
      subject: 'hpa default/web External/waiting',
      seen: lacking(BOTH[1], 'does not respond'),
    });
  });

  it('reports a metric without a collector that the API has no value of', async () => {
    await using system = await start();
    await using other = await startMetricsApis(system.server.cluster);
    other.responses.set('/apis/external.metrics.k8s.io/v1beta1/namespaces/default/waiting', { items: [] });
    await created(system.server, HPAS, hpaObject({ metrics: [externalMetric('waiting')] }));
    await eventually(async () => {
      const { findings } = await system.examine();
      const failed = findings.filter(({ status }) => status === 'failed');
      return failed.length === 1 && failed[0]?.seen === lacking(BOTH[1], 'returns no value');
    });
  });

  it('reports a value that the source returns and the API does not', async () => {
    await using system = await start();
    system.body = '{"status":"success","data":{"resultType":"vector","result":[]}}';
    await system.apply();
    await system.run();
    await system.register(BOTH);
    system.body = RESULT;
    const { diagnoses, findings } = await system.examine();
    expect(diagnoses).to.deep.equal(['metric-not-served', 'metric-not-served']);
    const failed = findings.filter(({ status }) => status === 'failed');
    const cause = 'Cannot read response of Prometheus at HOST: the query returned no result (status 500)';
    expect(failed.map(({ seen }) => String(seen).replace(/127\.0\.0\.1:\d+/, 'HOST'))).to.deep.equal([
      `Cannot get /apis/custom.metrics.k8s.io/v1beta2/namespaces/default/services/web/rate: Cannot collect Object/rate: ${cause}`,
      `Cannot get /apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue: Cannot collect External/queue: ${cause}`,
    ]);
  });
});

/** A cluster, a Prometheus, and an autoscaler that a spec may start and register. */
async function start() {
  await using starting = new AsyncDisposableStack();
  const server = starting.use(await startSimulatedApiServer({ clock: new ManualClock(Date.now()) }));
  const prometheus = starting.use(
    await LoopbackServer.start((_, response) => void response.end(system.body)),
  );
  const flags = ['--controllers=', `--prometheus-server=${prometheus.url.href}`];
  let port = 0;
  const system = {
    server,
    prometheus: prometheus.url.host,
    body: RESULT,
    async apply(more: Readonly<Record<string, string>> = {}, others: readonly object[] = []) {
      const annotations = {
        'metric-config.external.queue.prometheus/query': 'depth',
        'metric-config.object.rate.prometheus/query': 'rate',
        ...more,
      };
      const service = { apiVersion: 'v1', kind: 'Service', name: 'web' };
      const metrics = [
        externalMetric('queue', { type: 'prometheus' }),
        objectMetric('rate', service),
        ...others,
      ];
      await created(server, HPAS, hpaObject({ annotations, metrics }));
    },
    /** Starts the autoscaler, and waits until it has queried the metrics. */
    async run() {
      const folder = join(dirname(server.kubeconfig), 'autoscaler');
      const own = ['--bind-address=127.0.0.1', '--secure-port=0', `--cert-dir=${folder}`];
      const command = parseAutoscalerOptions([...own, ...flags]);
      if (command.kind !== 'run') throw new Error('these flags run it');
      const autoscaler = stack.use(
        await startAutoscaler(command.options, {
          ...{ access: await server.access(), clock: server.clock, identity: 'a' },
          ...{ logger: new RecordingLogger(), version: versionInfo(process) },
        }),
      );
      ({ port } = autoscaler.address);
      await elapseUntil(server.clock, 100, () => prometheus.requests.length >= 2);
      await server.clock.advance(100);
    },
    async register(groups: readonly (typeof BOTH)[number][], at = port) {
      for (const group of groups)
        for (const version of group.startsWith('custom') ? ['v1beta1', 'v1beta2'] : ['v1beta1']) {
          const service = { namespace: 'kube-system', name: 'autoscaler' };
          server.cluster.aggregator.register({ group, version, host: '127.0.0.1', port: at, service });
        }
      await elapseUntil(server.clock, 1000, async () => {
        const path = '/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.external.metrics.k8s.io';
        const { body } = await server.client.get(path);
        return body.status?.conditions?.[0]?.status === (at === 1 ? 'False' : 'True');
      });
    },
    examine: () => examineAutoscaler(server, [...flags, '--enable-custom-metrics-api=true']),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
  const stack = starting.move();
  return system;
}
