import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { startAutoscaler } from '#lib/autoscaler/autoscaler.ts';
import { parseAutoscalerOptions } from '#lib/autoscaler/options/autoscaler-options.ts';
import { versionInfo } from '#lib/program.ts';
import { eventually } from '#spec/support/eventually.ts';
import { requestHttps } from '#spec/support/https-request.ts';
import { startMetricsApis } from '#spec/support/metrics-apis.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

describe('hpaSubsystem, in the autoscaler', () => {
  it('scales, and explains decisions while it leads', async () => {
    await using server = await startSimulatedApiServer();
    await scalesAndReports(server, 'v2');
  });

  it('does so in a cluster before 1.23, which has no autoscaling/v2', async () => {
    await using server = await startSimulatedApiServer({ scenario: { kubernetesMinor: 22 } });
    await scalesAndReports(server, 'v2beta2');
    const path = '/apis/autoscaling/v2beta2/namespaces/default/horizontalpodautoscalers/web';
    const { status, metadata } = (await server.client.get(path)).body;
    expect(status).to.include({ currentReplicas: 2, desiredReplicas: 4 });
    const writers: readonly { readonly manager: string; readonly apiVersion: string }[] =
      metadata.managedFields;
    expect(
      writers.flatMap(({ manager, apiVersion }) => (manager === 'autoscaler-hpa' ? apiVersion : [])),
    ).to.deep.equal(['autoscaling/v2beta2']);
  });

  async function scalesAndReports(server: SimulatedApiServer, createdIn: string): Promise<void> {
    await using metrics = await startMetricsApis(server.cluster);
    const queue = '/apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue';
    metrics.responses.set(queue, { items: [{ metricName: 'queue', value: '40' }] });
    const labels = { app: 'web' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } };
    await create('/apis/apps/v1/namespaces/default/deployments', {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } },
      spec: { replicas: 2, selector: { matchLabels: labels }, template },
    });
    const target = { type: 'AverageValue', averageValue: '10' };
    await create(`/apis/autoscaling/${createdIn}/namespaces/default/horizontalpodautoscalers`, {
      ...{
        apiVersion: `autoscaling/${createdIn}`,
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'web' },
      },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        maxReplicas: 9,
        metrics: [{ type: 'External', external: { metric: { name: 'queue' }, target } }],
      },
    });
    const commandLine = parseAutoscalerOptions([
      ...['--bind-address=127.0.0.1', '--secure-port=0', '--controllers=hpa'],
      ...['--authorization-always-allow-paths=*', `--cert-dir=${join(dirname(server.kubeconfig), 'a')}`],
    ]);
    if (commandLine.kind !== 'run') throw new Error('It is to run');
    const logger = new RecordingLogger();
    await using autoscaler = await startAutoscaler(commandLine.options, {
      ...{ access: await server.access(), clock: server.clock, logger, identity: 'a' },
      version: versionInfo(process),
    });
    const deployment = '/apis/apps/v1/namespaces/default/deployments/web';
    await eventually(async () => {
      await server.clock.advance(0);
      return (await server.client.get(deployment)).body.spec.replicas === 4;
    });
    const get = async (path: string) =>
      await requestHttps(`https://127.0.0.1:${autoscaler.address.port}${path}`, {
        rejectUnauthorized: false,
      });
    const reconciled =
      'horizontal_pod_autoscaler_controller_reconciliations_total{action="scale_up",error="none"} 1';
    await eventually(async () => {
      await server.clock.advance(0); // reports are complete only after the reconciliation
      return (await get('/metrics')).body.includes(reconciled);
    });
    const series = (await get('/metrics')).body;
    expect(series).to.include('horizontal_pod_autoscaler_controller_num_horizontal_pod_autoscalers 1\n');
    expect(series).to.include(
      'horizontal_pod_autoscaler_controller_desired_replicas{namespace="default",hpa_name="web"} 4\n',
    );
    const computed = '{action="scale_up",error="none",metric_type="External"} 1\n';
    expect(series).to.include(`horizontal_pod_autoscaler_controller_metric_computation_total${computed}`);
    expect(series).to.include(
      `horizontal_pod_autoscaler_controller_metric_computation_duration_seconds_count${computed}`,
    );
    const why = '/debug/hpa?namespace=default&name=web';
    const { explanation, decisions } = JSON.parse((await get(why)).body);
    expect(explanation).to.deep.include({ currentReplicas: 2, proposedReplicas: 4, desiredReplicas: 4 });
    expect(decisions[0]).to.deep.include({ step: 'metrics', isScaled: true });
    const { body } = await get(`${why}&format=text`);
    expect(body).to.contain('2 replicas, bounds 1 to 9: scales to 4\n');
    expect(body).to.match(/^\d\d:\d\d:\d\d +scaled from 2 to 4, metrics propose 4$/m);
    expect((await get('/debug/hpa?format=text')).body).to.match(/^default\/web {2}/);
    expect((await get('/debug/hpa?namespace=default&name=no')).status).to.equal(404);
    expect((await get('/debug/hpa?format=xml')).status).to.equal(400);
    const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/autoscaler';
    await server.client.patch(lease, 'merge', { spec: { holderIdentity: 'b' } });
    await eventually(async () => {
      await server.clock.advance(1000);
      return (await get(why)).status === 404;
    });
    const ofStandby = (await get('/metrics')).body;
    expect(ofStandby).to.include('horizontal_pod_autoscaler_controller_num_horizontal_pod_autoscalers 0\n');
    expect(ofStandby).to.not.include('horizontal_pod_autoscaler_controller_desired_replicas{');
    expect(
      logger.lines.some(({ message }) => message.includes('-horizontal-pod-autoscaler-controller')),
    ).to.equal(true);

    async function create(path: string, body: object): Promise<void> {
      const response = await server.client.post(path, body);
      expect(response.status, JSON.stringify(response.body)).to.equal(201);
    }
  }
});
