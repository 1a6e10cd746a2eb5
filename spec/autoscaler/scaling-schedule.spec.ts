import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { startAutoscaler } from '#lib/autoscaler/autoscaler.ts';
import { parseAutoscalerOptions } from '#lib/autoscaler/options/autoscaler-options.ts';
import { versionInfo } from '#lib/program.ts';
import { elapseUntil } from '#spec/support/elapse-until.ts';
import { requestHttps } from '#spec/support/https-request.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { hpaObject } from '#spec/support/scaled-hpas.ts';
import { startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const FOLDER = 'manifests/components/scaling-schedule';
const SCHEDULES = '/apis/zalando.org/v1/namespaces/default/scalingschedules';
const VALUE =
  '/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/scalingschedules.zalando.org/nightly/load';

describe('scalingScheduleSubsystem, in the autoscaler', () => {
  it('serves the value of a schedule, reports it as active, and applies the last step', async () => {
    await using system = await start();
    const nowMs = system.clock.nowMs();
    const date = new Date(Math.floor(nowMs / 1000) * 1000 + 60_000).toISOString();
    const schedule = {
      apiVersion: 'zalando.org/v1',
      kind: 'ScalingSchedule',
      metadata: { name: 'nightly', namespace: 'default' },
      spec: {
        scalingWindowDurationMinutes: 0,
        schedules: [{ type: 'OneTime', date, durationMinutes: 2, value: 1000 }],
      },
    };
    expect((await system.client.post(SCHEDULES, schedule)).status).to.equal(201);
    const metric = {
      metric: { name: 'load' },
      describedObject: { apiVersion: 'zalando.org/v1', kind: 'ScalingSchedule', name: 'nightly' },
      target: { type: 'AverageValue', averageValue: '10' },
    };
    const hpa = hpaObject({
      annotations: {},
      metrics: [{ type: 'Object', object: metric }],
    });
    await system.client.post('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', {
      ...hpa,
      spec: { ...(hpa.spec as object), maxReplicas: 200 },
    });
    await system.passes(async () => (await system.value()) === '0');
    expect(await system.replicas()).to.equal(95);
    expect(await system.isActive()).to.equal(undefined);

    await system.passes(async () => (await system.isActive()) === true);
    await system.passes(async () => (await system.value()) === '1k');
    await system.passes(async () => (await system.replicas()) === 100);
    await system.passes(async () => (await system.events()).length === 1);
    expect(await system.events()).to.deep.equal([
      "Normal ScalingAdjusted Scaling schedule 'ScalingSchedule' adjusted replicas 95 -> 100 based on metric: default/nightly",
    ]);

    await system.passes(async () => (await system.isActive()) === false);
    await system.passes(async () => (await system.value()) === '0');
    expect(await system.replicas()).to.equal(100);
    await system.client.delete(`${SCHEDULES}/nightly`);
    await system.passes(async () => (await system.value()) === undefined);
  });
});

async function start() {
  const stack = new AsyncDisposableStack();
  const definitions = ['scaling-schedule', 'cluster-scaling-schedule'].map((name) =>
    parse(readFileSync(`${FOLDER}/${name}.yaml`, 'utf8')),
  );
  const clock = new ManualClock(Date.now());
  const server = stack.use(await startSimulatedApiServer({ clock, definitions }));
  const { client } = server;
  const labels = { app: 'web' };
  const containers = [{ name: 'app', image: 'registry.example/app:v1' }];
  await client.post('/apis/apps/v1/namespaces/default/deployments', {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas: 95,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  });
  const flags = ['--bind-address=127.0.0.1', '--secure-port=0', '--controllers=', '--leader-elect=false'];
  const commandLine = parseAutoscalerOptions([
    ...flags,
    '--scaling-schedule',
    '--default-collection-interval=5s',
    `--cert-dir=${join(dirname(server.kubeconfig), 'autoscaler')}`,
  ]);
  if (commandLine.kind !== 'run') throw new Error('these flags run it');
  const autoscaler = stack.use(
    await startAutoscaler(commandLine.options, {
      ...{ access: await server.access(), clock, logger: new RecordingLogger(), identity: 'a' },
      version: versionInfo(process),
    }),
  );
  return {
    ...{ clock, client },
    async value(): Promise<string | undefined> {
      const { certificatePem: cert, privateKeyPem: key } = server.cluster.pki.admin;
      const url = `https://127.0.0.1:${autoscaler.address.port}${VALUE}`;
      const { body } = await requestHttps(url, { cert, key, rejectUnauthorized: false });
      return JSON.parse(body).items?.[0]?.value;
    },
    async replicas(): Promise<number> {
      return (await client.get('/apis/apps/v1/namespaces/default/deployments/web')).body.spec.replicas;
    },
    async isActive(): Promise<boolean | undefined> {
      return (await client.get(`${SCHEDULES}/nightly`)).body.status?.active;
    },
    async events(): Promise<readonly string[]> {
      const { body } = await client.get('/apis/events.k8s.io/v1/namespaces/default/events');
      return body.items
        .filter(
          ({ regarding }: { regarding: { kind: string } }) => regarding.kind === 'HorizontalPodAutoscaler',
        )
        .map(({ type, reason, note }: Record<string, string>) => `${type} ${reason} ${note}`);
    },
    async passes(isSo: () => Promise<boolean>): Promise<void> {
      await elapseUntil(clock, 1_000, isSo);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
