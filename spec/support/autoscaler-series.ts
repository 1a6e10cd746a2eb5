import { dirname, join } from 'node:path';
import { startAutoscaler } from '#lib/autoscaler/autoscaler.ts';
import { parseAutoscalerOptions } from '#lib/autoscaler/options/autoscaler-options.ts';
import { versionInfo } from '#lib/program.ts';
import { readDefinition } from './definition-file.ts';
import { eventually } from './eventually.ts';
import { requestHttps } from './https-request.ts';
import { RecordingLogger } from './recording-logger.ts';
import { externalMetric, hpaObject } from './scaled-hpas.ts';
import { startSimulatedApiServer } from './simulated-api-server.ts';

/** The `/metrics` of an autoscaler after its first CronHPA reconciliation and its first query of a source. */
export async function autoscalerSeries(): Promise<string> {
  const definition = readDefinition('cron-horizontal-pod-autoscaler');
  await using cluster = await startSimulatedApiServer({ definitions: [definition] });
  await cluster.client.post(
    '/apis/autoscaling.stke.com/v1beta1/namespaces/default/cronhorizontalpodautoscalers',
    {
      apiVersion: 'autoscaling.stke.com/v1beta1',
      kind: 'CronHorizontalPodAutoscaler',
      metadata: { name: 'web' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        jobs: [{ name: 'night', schedule: '@daily', targetSize: 0 }],
      },
    },
  );
  const settings = { endpoint: 'http://127.0.0.1:1/', 'json-key': '$' }; // never queried
  const annotations = Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [`metric-config.external.jobs.json-path/${key}`, value]),
  );
  await cluster.client.post(
    '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
    hpaObject({ annotations, metrics: [externalMetric('jobs', { type: 'json-path' })] }),
  );
  const flags = ['--bind-address=127.0.0.1', '--secure-port=0', '--authorization-always-allow-paths=*'];
  const own = [`--cert-dir=${join(dirname(cluster.kubeconfig), 'autoscaler')}`, '--leader-elect=false'];
  const commandLine = parseAutoscalerOptions([...flags, ...own, '--controllers=cronhpa']);
  if (commandLine.kind !== 'run') throw new Error('The autoscaler is to run');
  await using autoscaler = await startAutoscaler(commandLine.options, {
    access: await cluster.access(),
    clock: cluster.clock,
    logger: new RecordingLogger(),
    version: versionInfo(process),
    identity: 'a',
  });
  let exposition = '';
  await eventually(async () => {
    await cluster.clock.advance(0);
    const { port } = autoscaler.address;
    const url = `https://127.0.0.1:${port}/metrics`;
    exposition = (await requestHttps(url, { rejectUnauthorized: false })).body;
    return (
      /^workqueue_work_duration_seconds_count\{.*\} [1-9]/m.test(exposition) &&
      /^autoscaler_source_requests_total\{.*\} [1-9]/m.test(exposition)
    );
  });
  return exposition;
}
