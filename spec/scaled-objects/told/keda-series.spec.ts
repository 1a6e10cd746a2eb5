import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import {
  PATHS,
  type ScaledObjectsCluster,
  startScaledObjectsCluster,
} from '#spec/support/scaled-objects-cluster.ts';

describe('kedaSeries', () => {
  it('tells of each trigger its value, whether it is active, and how it fails', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/a', 7).set('/b', 0);
    await cluster.deployment('web', 1, { resources: { requests: { cpu: '1' } } });
    const cpu = { type: 'cpu', metricType: 'Utilization', metadata: { value: '50' } };
    const triggers = [cluster.trigger('/a'), cluster.trigger('/b', { name: 'b' }), cpu];
    await cluster.scaledObject('web', { minReplicaCount: 1, triggers });
    await cluster.lead();
    await cluster.holds(async () => (await cluster.condition('web', 'Active')).startsWith('True'));
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
    await cluster.holds(
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
    await cluster.holds(async () => (await lines(cluster, 'keda_scaler_active')).length === 0);
  });

  it('counts requests by HTTP of each trigger by their status, also of those who share them', async () => {
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
    await cluster.holds(async () => (await counted()).length === 2);
    expect(await counted()).to.deep.equal([`${labels('web', '200')} 1`, `${labels('worker', '200')} 1`]);
    cluster.source.set('/a', { status: 503 });
    await cluster.elapse(16);
    await cluster.holds(async () => (await counted()).includes(`${labels('worker', '503')} 1`));
    const durations = await lines(cluster, 'keda_scaler_http_request_duration_seconds_count');
    expect(durations).to.include('{scaler="queue",status_code="200"} 1');
    expect(durations).to.include('{scaler="queue",status_code="503"} 1');
  });

  it('tells the value of a formula, and goes on where one cannot be used', async () => {
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
    await cluster.holds(async () => (await composite()).length > 0);
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
      await cluster.holds(async () => (await counted()) === expected(1));
      await cluster.elapse(16);
      await cluster.holds(async () => (await counted()) === expected(2));
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
    await cluster.holds(async () => job.test(await failed('keda_scaled_job_errors_total')));
    const object = /^\{namespace="default",scaledObject="web"\} [1-9]\d*$/;
    await cluster.holds(async () => object.test(await failed('keda_scaled_object_errors_total')));
    expect((await lines(cluster, 'keda_scaler_active'))[0]).to.contain('type="scaledjob"');
  });
});

/** What follows the name of a series, of each of its samples. */
async function lines(cluster: ScaledObjectsCluster, name: string): Promise<readonly string[]> {
  const exposition = await cluster.series();
  const samples = exposition.split('\n').filter((line) => line.startsWith(`${name}{`));
  return samples.map((line) => line.slice(name.length));
}
