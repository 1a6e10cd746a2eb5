import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { startAutoscaler } from '#lib/autoscaler/autoscaler.ts';
import { parseAutoscalerOptions } from '#lib/autoscaler/options/autoscaler-options.ts';
import { versionInfo } from '#lib/program.ts';
import { readDefinition } from '#spec/support/definition-file.ts';
import { elapseUntil } from '#spec/support/elapse-until.ts';
import { requestHttps } from '#spec/support/https-request.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { startMetricsApis } from '#spec/support/metrics-apis.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const QUEUE = '/apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue';
const CRON_HPAS = '/apis/autoscaling.stke.com/v1beta1/namespaces/default/cronhorizontalpodautoscalers';

describe('AutoMinReplicas beside Cron-HPA', () => {
  for (const [what, scaleTargetRef] of [
    ['the target', { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }],
    ['the HPA', { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', name: 'web' }],
  ] as const) {
    it(`does not run while the window of a Cron-HPA of ${what} is open`, async () => {
      await using server = await startSimulatedApiServer({
        clock: new ManualClock(Date.UTC(2026, 0, 1, 2)), // a day is evaluated within an hour after its midnight
        definitions: [readDefinition('cron-horizontal-pod-autoscaler')],
      });
      await using metrics = await startMetricsApis(server.cluster);
      metrics.responses.set(QUEUE, { items: [{ metricName: 'queue', value: '20' }] });
      const create = async (path: string, body: object) => {
        const response = await server.client.post(path, body);
        expect(response.status, JSON.stringify(response.body)).to.equal(201);
      };
      const labels = { app: 'web' };
      const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } };
      await create('/apis/apps/v1/namespaces/default/deployments', {
        ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } },
        spec: { replicas: 2, selector: { matchLabels: labels }, template },
      });
      const target = { type: 'AverageValue', averageValue: '10' };
      await create('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', {
        ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'web' } },
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
          maxReplicas: 9,
          metrics: [{ type: 'External', external: { metric: { name: 'queue' }, target } }],
        },
      });
      await create(CRON_HPAS, {
        apiVersion: 'autoscaling.stke.com/v1beta1',
        kind: 'CronHorizontalPodAutoscaler',
        metadata: { name: 'evenings' },
        spec: { scaleTargetRef, jobs: [{ name: 'up', schedule: '0 0 29 2 *', targetSize: 3 }] },
      });
      const commandLine = parseAutoscalerOptions([
        ...['--bind-address=127.0.0.1', '--secure-port=0', '--controllers=hpa,cronhpa'],
        ...['--authorization-always-allow-paths=*', `--cert-dir=${join(dirname(server.kubeconfig), 'a')}`],
      ]);
      if (commandLine.kind !== 'run') throw new Error('It is to run');
      await staysUp(true);
      await using autoscaler = await startAutoscaler(commandLine.options, {
        ...{ access: await server.access(), clock: server.clock, identity: 'a' },
        ...{ logger: new RecordingLogger(), version: versionInfo(process) },
      });
      const url = `https://127.0.0.1:${autoscaler.address.port}/debug/hpa?namespace=default&name=web&format=text`;
      const text = async () => (await requestHttps(url, { rejectUnauthorized: false })).body;
      const isLeftAlone = async () =>
        (await text()).includes('not changed while a Cron-HPA has scaled up the target or holds its size');
      const passes = async (condition: () => Promise<boolean>) =>
        await elapseUntil(server.clock, 1000, condition);
      await passes(isLeftAlone);
      await server.clock.advance(60_000);
      await passes(isLeftAlone);
      await staysUp(false);
      await passes(async () => (await text()).includes('automatic minReplicas: stays 1: '));

      async function staysUp(scaleUpKeepWindow: boolean): Promise<void> {
        const { status } = await server.client.patch(`${CRON_HPAS}/evenings/status`, 'merge', {
          status: { scaleUpKeepWindow },
        });
        expect(status).to.equal(200);
      }
    });
  }
});
