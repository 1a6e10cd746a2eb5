import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { startAutoscaler } from '#lib/autoscaler/autoscaler.ts';
import { parseAutoscalerOptions } from '#lib/autoscaler/options/autoscaler-options.ts';
import { versionInfo } from '#lib/program.ts';
import type { Clock } from '#lib/time/clock.ts';
import { eventually } from '#spec/support/eventually.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { type SimulatedApiServer, startLiveApiServer } from '#spec/support/simulated-api-server.ts';

const DEFINITIONS = [
  'manifests/crds/cron-horizontal-pod-autoscaler.yaml',
  ...['scaled-object', 'scaled-job', 'trigger-authentication', 'cluster-trigger-authentication'].map(
    (name) => `manifests/crds/keda/${name}.yaml`,
  ),
  'manifests/components/scaling-schedule/scaling-schedule.yaml',
  'manifests/components/scaling-schedule/cluster-scaling-schedule.yaml',
];
const REVIEWS = /^\/apis\/(authentication|authorization)\.k8s\.io\//;
const OWN = 'namespaces/default';
const PATHS = {
  cronHpas: `/apis/autoscaling.stke.com/v1beta1/${OWN}/cronhorizontalpodautoscalers`,
  deployments: `/apis/apps/v1/${OWN}/deployments`,
  hpas: `/apis/autoscaling/v2/${OWN}/horizontalpodautoscalers`,
  jobs: `/apis/batch/v1/${OWN}/jobs`,
  keda: `/apis/keda.sh/v1alpha1/${OWN}`,
  schedules: `/apis/zalando.org/v1/${OWN}/scalingschedules`,
};

/** The one change that each controller makes for the objects of this spec. */
const CHANGES: readonly (readonly [who: string, done: RegExp, toDo: RegExp])[] = [
  line('Cron-HPA', /caled? Deployment default\/clock from 1 to 4 \(cronhpa clock: job up\)$/),
  line(
    'Cron-HPA of a target with an HPA',
    /hanged? minReplicas of HorizontalPodAutoscaler default\/raised from 1 to 2 \(cronhpa raised: job up\)$/,
  ),
  line(
    'the HPA controller',
    /caled? Deployment default\/small from 1 to 3 \(hpa small: Current number of replicas below Spec.MinReplicas\)$/,
  ),
  line(
    'a ScaledObject at zero',
    /caled? Deployment default\/queue from 0 to 1 \(scaledobject queue: triggered by s0-metric-api-value\)$/,
  ),
  line(
    'a ScaledObject whose triggers are not active',
    /caled? Deployment default\/idle from 4 to 0 \(scaledobject idle: no trigger was active during the cooldown period\)$/,
  ),
  line(
    'a ScaledObject that is paused',
    /caled? Deployment default\/paused from 3 to 2 \(scaledobject paused: paused at 2\)$/,
  ),
  line(
    'a ScaledJob',
    /reated? 2 Jobs of ScaledJob default\/work \(scaledjob work: 0 running, queue length 10\)$/,
  ),
  line(
    'a ScalingSchedule',
    /caled? Deployment default\/nightly from 95 to 100 \(hpa nightly: schedule ScalingSchedule default\/nightly, within the tolerance\)$/,
  ),
];

/** Uses the system's clock: an autoscaler has many timers. */
describe('the log of an autoscaler with every controller', () => {
  let stack: AsyncDisposableStack;
  let server: SimulatedApiServer<Clock>;
  let logger: RecordingLogger;
  /** Requests of the autoscaler that may change objects. */
  let writes: string[];
  let reads: string[];

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    const definitions = DEFINITIONS.map((path) => parse(readFileSync(path, 'utf8')));
    server = stack.use(await startLiveApiServer({ definitions }));
    logger = new RecordingLogger();
    writes = [];
    reads = [];
    await createObjects(await startSource(stack));
    server.cluster.apiServer.setFaults({
      serve: async ({ method, path, raw }, { next }) => {
        const isOurs = raw.headers['user-agent']?.startsWith('autoscaler/') === true;
        if (isOurs && method === 'GET') reads.push(path);
        else if (isOurs && !REVIEWS.test(path)) writes.push(`${method} ${path}`);
        await next();
      },
    });
  });

  afterEach(() => stack.disposeAsync());

  it('has a line for each written scale, with controller, target, from, to and cause', async () => {
    await start();
    for (const [who, done] of CHANGES) await logs(done, who);
    expect(messages(/^Would/)).to.deep.equal([]);
    expect(writes).not.to.be.empty;
  });

  it('has a line for each change of a dry run, once, which writes nothing', async () => {
    await start('--dry-run');
    for (const [who, , toDo] of CHANGES) await logs(toDo, who);
    await logs(/^Would patch .*\/horizontalpodautoscalers\/keda-hpa-queue$/, 'the HPA of a ScaledObject');
    const before = reads.filter(isOfClock).length;
    await eventually(() => reads.filter(isOfClock).length >= before + 3); // evaluated again, with the same result
    expect(writes).to.deep.equal([]);
    expect(messages(/^(Scaled|Changed|Created) /)).to.deep.equal([]);
    const would = messages(/^Would/);
    expect(would.length).to.equal(new Set(would).size);
    expect(messages(/^Dry run: logging changes, writing nothing/)).to.have.lengthOf(1);
    expect(
      logger.lines.filter(({ level, message }) => level === 'error' && /reconcile/.test(message)),
    ).to.deep.equal([]);
    for (const [name, replicas] of Object.entries({
      clock: 1,
      raised: 1,
      small: 1,
      queue: 0,
      idle: 4,
      nightly: 95,
    }))
      expect((await server.client.get(`${PATHS.deployments}/${name}`)).body.spec.replicas, name).to.equal(
        replicas,
      );
    expect((await server.client.get(PATHS.jobs)).body.items).to.deep.equal([]);
  });

  async function start(...more: readonly string[]): Promise<void> {
    const commandLine = parseAutoscalerOptions([
      ...['--bind-address=127.0.0.1', '--secure-port=0', '--controllers=*,hpa', '--scaling-schedule'],
      ...['--horizontal-pod-autoscaler-sync-period=1s', '--allowed-hosts=127.0.0.1'],
      ...[`--cert-dir=${join(dirname(server.kubeconfig), 'serving')}`, ...more],
    ]);
    if (commandLine.kind !== 'run') throw new Error('these flags run it');
    stack.use(
      await startAutoscaler(commandLine.options, {
        ...{ access: await server.access(), clock: server.clock, logger, identity: 'a' },
        version: versionInfo(process),
      }),
    );
  }

  function messages(pattern: RegExp): readonly string[] {
    return logger.lines
      .filter(({ message, verbosity }) => verbosity === 0 && pattern.test(message))
      .map(({ message }) => message);
  }

  async function logs(pattern: RegExp, who: string): Promise<void> {
    await eventually(() => messages(pattern).length > 0).catch(() => {
      expect.fail(`${who} logs nothing like ${pattern}, but ${messages(/./).join('\n')}`);
    });
    expect(messages(pattern), who).not.to.be.empty;
  }

  async function createObjects(url: string): Promise<void> {
    const create = async (path: string, body: object) => {
      const response = await server.client.post(path, body);
      expect(response.status, JSON.stringify(response.body)).to.equal(201);
    };
    const replicas = { clock: 1, raised: 1, small: 1, queue: 0, idle: 4, paused: 3, nightly: 95 };
    for (const [name, count] of Object.entries(replicas))
      await create(PATHS.deployments, deployment(name, count));
    for (const name of ['clock', 'raised']) await create(PATHS.cronHpas, cronHpa(name));
    await create(PATHS.hpas, hpa('raised', { minReplicas: 1 }));
    await create(PATHS.hpas, hpa('small', { minReplicas: 3 }));
    await create(`${PATHS.keda}/triggerauthentications`, {
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'TriggerAuthentication', metadata: { name: 'login' } },
      spec: { secretTargetRef: [{ parameter: 'token', name: 'login', key: 'token' }] },
    });
    const trigger = (path: string) => ({
      type: 'metrics-api',
      metadata: { url: `${url}${path}`, valueLocation: 'value', targetValue: '5' },
    });
    const scaledObject = (
      name: string,
      path: string,
      more: { annotations?: object; cooldownPeriod?: number } = {},
    ) => {
      const { annotations = {}, ...spec } = more;
      return create(`${PATHS.keda}/scaledobjects`, {
        ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata: { name, annotations } },
        spec: { scaleTargetRef: { name }, pollingInterval: 1, triggers: [trigger(path)], ...spec },
      });
    };
    await scaledObject('queue', '/busy');
    await scaledObject('idle', '/idle', { cooldownPeriod: 1 });
    await scaledObject('paused', '/busy', { annotations: { 'autoscaling.keda.sh/paused-replicas': '2' } });
    const containers = [{ name: 'main', image: 'worker' }];
    await create(`${PATHS.keda}/scaledjobs`, {
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledJob', metadata: { name: 'work' } },
      spec: {
        jobTargetRef: { template: { spec: { containers, restartPolicy: 'Never' } } },
        ...{ pollingInterval: 1, maxReplicaCount: 2, triggers: [trigger('/busy')] },
      },
    });
    const date = new Date(Math.floor(Date.now() / 1000) * 1000 - 60_000).toISOString();
    await create(PATHS.schedules, {
      ...{ apiVersion: 'zalando.org/v1', kind: 'ScalingSchedule', metadata: { name: 'nightly' } },
      spec: {
        scalingWindowDurationMinutes: 0,
        schedules: [{ type: 'OneTime', date, durationMinutes: 600, value: 1000 }],
      },
    });
    const describedObject = { apiVersion: 'zalando.org/v1', kind: 'ScalingSchedule', name: 'nightly' };
    const target = { type: 'AverageValue', averageValue: '10' };
    const object = { metric: { name: 'load' }, describedObject, target };
    await create(PATHS.hpas, hpa('nightly', { maxReplicas: 200, metrics: [{ type: 'Object', object }] }));
  }
});

function isOfClock(path: string): boolean {
  return path.endsWith('/deployments/clock/scale');
}

function line(who: string, rest: RegExp): readonly [string, RegExp, RegExp] {
  return [who, new RegExp(`^[SC]${rest.source}`), new RegExp(`^Would [sc]${rest.source}`)];
}

async function startSource(stack: AsyncDisposableStack): Promise<string> {
  const source = createServer(({ url }, response) =>
    response.end(JSON.stringify({ value: url === '/busy' ? 10 : 0 })),
  );
  await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve));
  stack.defer(() => {
    source.closeAllConnections();
    source.close();
  });
  return `http://127.0.0.1:${(source.address() as AddressInfo).port}`;
}

function deployment(name: string, replicas: number): object {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } };
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name } },
    spec: { replicas, selector: { matchLabels: labels }, template },
  };
}

function cronHpa(name: string): object {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name };
  const targetSize = name === 'clock' ? 4 : 2;
  return {
    ...{
      apiVersion: 'autoscaling.stke.com/v1beta1',
      kind: 'CronHorizontalPodAutoscaler',
      metadata: { name },
    },
    spec: { scaleTargetRef, jobs: [{ name: 'up', schedule: '* * * * * *', targetSize }] },
  };
}

function hpa(name: string, spec: object): object {
  const external = { metric: { name: 'none' }, target: { type: 'AverageValue', averageValue: '10' } };
  return {
    ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name } },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      ...{ maxReplicas: 5, metrics: [{ type: 'External', external }], ...spec },
    },
  };
}
