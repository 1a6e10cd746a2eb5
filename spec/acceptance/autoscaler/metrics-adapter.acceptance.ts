import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { freePort } from '#spec/support/free-port.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { requireProgram } from '#spec/support/machine-programs.ts';
import {
  canStartDatabase,
  type RealDatabase,
  requireDatabase,
  startMariadb,
  startPostgres,
} from '#spec/support/real-databases.ts';
import { type RealPrometheus, startPrometheus } from '#spec/support/real-prometheus.ts';
import type { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { needControllers } from '../control-plane/need-binaries.ts';
import { InstalledAutoscaler } from './installed-autoscaler.ts';
import { ReadyPods } from './ready-pods.ts';
import { externalMetric, objectMetric, podsMetric, scaledByMetrics } from './scaled-by-metrics.ts';
import { deployment } from './scheduled-objects.ts';

const ACCOUNT = 'system:serviceaccount:kube-system:autoscaler';
/** Number of polls: 90 s in total, excluding time for which the machine is suspended. */
const MAX_ATTEMPTS = 360;
const POLL_INTERVAL_MS = 250;
const DATABASES = [
  ['MariaDB', 'mysql', startMariadb],
  ['PostgreSQL', 'postgres', startPostgres],
] as const;
const COMPONENT = 'manifests/components/scaling-schedule';
/** Duration of the scheduled value: long enough to be observed on a slow machine. */
const SCHEDULED_MS = 75_000;
/** Time for which a value remains valid without an update: three collection intervals of 2 s. */
const VALID_MS = 6_000;

// The steps build on each other.
describe('custom and external metrics, served through the real aggregator to the real HPA controller', function () {
  this.timeout(600_000);
  this.bail(true);

  const stack = new AsyncDisposableStack();
  /** Values that the exporter returns. */
  const depth = { mails: 1, orders: 1 };
  let binary: string;
  let installed: InstalledAutoscaler;
  let autoscaler: SpawnedProgram;
  let prometheus: RealPrometheus;
  let exporter: LoopbackServer;
  let application: LoopbackServer;
  let pods: ReadyPods;
  /** Databases available on this machine, by system. */
  const databases = new Map<string, RealDatabase>();
  /** Total load of all pods of `web`. */
  let load = 1;

  before(async function () {
    const binaries = await needControllers(this);
    binary = await requireProgram(this, 'prometheus');
    exporter = stack.use(
      await LoopbackServer.start((_, response) => {
        response.setHeader('content-type', 'text/plain');
        response.end(
          `queue_depth{queue="mails"} ${depth.mails}\nqueue_depth{queue="orders"} ${depth.orders}\n`,
        );
      }),
    );
    prometheus = await startPrometheus(binary, [exporter.url.host]);
    application = stack.use(
      await LoopbackServer.start((_, response) => {
        response.end(JSON.stringify({ load: load / Math.max(1, pods.countOf('web')) }));
      }),
    );
    installed = stack.use(await InstalledAutoscaler.start(binaries));
    pods = stack.use(new ReadyPods(installed.controlPlane));
    for (const [, system, start] of DATABASES)
      if (await canStartDatabase(system)) databases.set(system, stack.use(await start(this)));
  });

  after(async () => {
    await prometheus?.[Symbol.asyncDispose]();
    await stack.disposeAsync();
  });

  it('become available as APIServices when the autoscaler of the manifests runs', async () => {
    const port = await freePort();
    await installed.expose(port);
    const sources: string[] = [];
    for (const [system, { port, ca }] of databases) {
      const file = join(installed.controlPlane.folder, `${system}.yaml`);
      const account = { user: 'reader', password: 'secret', database: 'shop', tls: { ca } };
      const source = { system, host: '127.0.0.1', port, ...account, namespaces: ['default'] };
      await writeFile(file, JSON.stringify(source), { mode: 0o600 });
      sources.push(`--sql-source=${system}=${file}`);
    }
    for (const file of ['scaling-schedule', 'cluster-scaling-schedule', 'rbac'])
      await installed.run('apply', '--filename', `${COMPONENT}/${file}.yaml`);
    autoscaler = await installed.startReplica([
      ...sources,
      '--scaling-schedule',
      '--allowed-hosts=127.0.0.0/8',
      `--secure-port=${port}`,
      `--prometheus-server=${prometheus.url.href}`,
    ]);
    await autoscaler.line(/Serving/, 60_000);
    for (const name of ['v1beta1.custom', 'v1beta2.custom', 'v1beta1.external'])
      await installed.run(
        'wait',
        '--for=condition=Available',
        `apiservice/${name}.metrics.k8s.io`,
        '--timeout=60s',
      );
  });

  it('scale a Deployment from 1 to 4 and back to 1 by an External metric', async () => {
    await installed.apply(
      deployment('mails', 1),
      scaledByMetrics('mails', {
        apiVersion: installed.controlPlane.hpaVersion,
        annotations: {
          'metric-config.external.queue-depth.prometheus/query': 'sum(queue_depth{queue="mails"})',
          'metric-config.external.queue-depth.prometheus/interval': '2s',
        },
        metrics: [externalMetric('queue-depth', { averageValue: '10', matchLabels: { type: 'prometheus' } })],
      }),
    );
    await untilConditionIs('mails', 'ScalingActive', 'True');
    expect(await replicasOf('mails')).to.equal(1);
    depth.mails = 35;
    await untilReplicas('mails', 4);
    depth.mails = 5;
    await untilReplicas('mails', 1);
  });

  it('scale a Deployment from 1 to 4 and back to 1 by an Object metric', async () => {
    await installed.run('create', 'service', 'clusterip', 'orders', '--tcp=80:80');
    await installed.apply(
      deployment('orders', 1),
      scaledByMetrics('orders', {
        apiVersion: installed.controlPlane.hpaVersion,
        annotations: {
          'metric-config.object.queue-depth.prometheus/query': 'sum(queue_depth{queue="orders"})',
          'metric-config.object.queue-depth.prometheus/interval': '2s',
        },
        metrics: [
          objectMetric('queue-depth', {
            averageValue: '10',
            describedObject: { apiVersion: 'v1', kind: 'Service', name: 'orders' },
          }),
        ],
      }),
    );
    await untilConditionIs('orders', 'ScalingActive', 'True');
    depth.orders = 38;
    await untilReplicas('orders', 4);
    depth.orders = 1;
    await untilReplicas('orders', 1);
  });

  it('scale a Deployment from 1 to 4 and back to 1 by a Pods metric', async () => {
    const config = 'metric-config.pods.load.json-path';
    await installed.apply(
      deployment('web', 1),
      scaledByMetrics('web', {
        apiVersion: installed.controlPlane.hpaVersion,
        annotations: {
          [`${config}/port`]: String(application.port),
          [`${config}/path`]: '/load',
          [`${config}/json-key`]: '$.load',
          [`${config}/interval`]: '1s',
        },
        metrics: [podsMetric('load', { averageValue: '10' })],
      }),
    );
    await untilConditionIs('web', 'ScalingActive', 'True');
    load = 38;
    await untilReplicas('web', 4);
    load = 1;
    await untilReplicas('web', 1);
  });

  it('add the replicas of a schedule that are within the tolerance, and emit an event', async () => {
    const now = Date.now();
    const [date, endDate] = [now - 1_000, now + SCHEDULED_MS].map((ms) => new Date(ms).toISOString());
    await installed.apply(
      {
        apiVersion: 'zalando.org/v1',
        kind: 'ScalingSchedule',
        metadata: { name: 'rush', namespace: 'default' },
        spec: {
          scalingWindowDurationMinutes: 0,
          schedules: [{ type: 'OneTime', value: 950, date, endDate }],
        },
      },
      deployment('rush', 9),
      scaledByMetrics('rush', {
        apiVersion: installed.controlPlane.hpaVersion,
        annotations: { 'metric-config.object.rush.scaling-schedule/interval': '2s' },
        metrics: [
          objectMetric('rush', {
            averageValue: '100',
            describedObject: { apiVersion: 'zalando.org/v1', kind: 'ScalingSchedule', name: 'rush' },
          }),
        ],
      }),
    );
    await untilReplicas('rush', 10); // 950 for a target of 900 is within the HPA controller's tolerance of 10 %
    expect(await isActive('rush')).to.equal(true);
    const reported = ['get', 'events', '--field-selector=reason=ScalingAdjusted'];
    expect(await installed.run(...reported, '--output=jsonpath={.items[*].message}')).to.equal(
      "Scaling schedule 'ScalingSchedule' adjusted replicas 9 -> 10 based on metric: default/rush",
    );
  });

  for (const [name, system] of DATABASES)
    it(`scale a Deployment from 1 to 4 and back to 1 by a query of ${name}`, async function () {
      await requireDatabase(this, system);
      const database = databases.get(system);
      if (!database) throw new Error(`${name} has not been started`);
      await database.run('CREATE TABLE jobs (id integer); INSERT INTO jobs VALUES (1)');
      const config = 'metric-config.external.waiting-jobs.sql';
      await installed.apply(
        deployment(system, 1),
        scaledByMetrics(system, {
          apiVersion: installed.controlPlane.hpaVersion,
          annotations: {
            [`${config}/source`]: system,
            [`${config}/query`]: 'SELECT count(*) FROM jobs',
            [`${config}/interval`]: '2s',
          },
          metrics: [
            externalMetric('waiting-jobs', {
              averageValue: '1',
              matchLabels: { type: 'sql', source: system },
            }),
          ],
        }),
      );
      await untilConditionIs(system, 'ScalingActive', 'True');
      await database.run('INSERT INTO jobs VALUES (2), (3), (4)');
      await untilReplicas(system, 4);
      await database.run('DELETE FROM jobs WHERE id > 1');
      await untilReplicas(system, 1);
    });

  it('are 0 after the schedule has ended', async () => {
    await until('the schedule is not active', async () => !(await isActive('rush')));
    await untilReplicas('rush', 1);
  });

  it('retain the replicas while Prometheus is down, and scale again afterwards', async () => {
    Object.assign(depth, { mails: 35, orders: 38 });
    await Promise.all([untilReplicas('mails', 4), untilReplicas('orders', 4)]);
    Object.assign(depth, { mails: 5, orders: 1 });
    await prometheus[Symbol.asyncDispose]();
    await Promise.all([
      untilConditionIs('mails', 'ScalingActive', 'False'),
      untilConditionIs('orders', 'ScalingActive', 'False'),
    ]);
    await sleep(2 * VALID_MS); // time for the controller to do what it must not
    expect([await replicasOf('mails'), await replicasOf('orders')]).to.deep.equal([4, 4]);

    prometheus = await startPrometheus(binary, [exporter.url.host], Number(prometheus.url.port));
    await Promise.all([untilReplicas('mails', 1), untilReplicas('orders', 1)]);
  });

  it('use each permission of the manifests, and need no other', async () => {
    await autoscaler[Symbol.asyncDispose](); // a watch is logged when it ends
    const events = (await installed.controlPlane.auditEvents()).filter(({ user }) => user === ACCOUNT);
    expect(events.filter(({ status }) => status === 401 || status === 403)).to.deep.equal([]);
    const used = new Set(events.map(({ verb, resource }) => `${verb} ${resource}`));
    expect([...used]).to.include.members([
      'list horizontalpodautoscalers.autoscaling',
      'watch horizontalpodautoscalers.autoscaling',
      'create subjectaccessreviews.authorization.k8s.io',
      'update scalingschedules/status.zalando.org',
      'update deployments/scale.apps',
    ]);
  });

  async function replicasOf(name: string): Promise<number | undefined> {
    const path = `/apis/apps/v1/namespaces/default/deployments/${name}`;
    const { spec } = await installed.controlPlane.client.get<Scaled>(path);
    return spec.replicas;
  }

  async function untilReplicas(name: string, replicas: number): Promise<void> {
    await until(`${name} has ${replicas} replicas`, async () => (await replicasOf(name)) === replicas);
  }

  async function isActive(name: string): Promise<boolean> {
    const path = `/apis/zalando.org/v1/namespaces/default/scalingschedules/${name}`;
    const { status } = await installed.controlPlane.client.get<Scheduled>(path);
    return status?.active ?? false;
  }

  async function untilConditionIs(name: string, type: string, status: string): Promise<void> {
    await until(`${name} is ${type}=${status}`, async () => {
      const conditions = (await hpaOf(name)).status?.conditions ?? [];
      return conditions.some((one) => one.type === type && one.status === status);
    });
  }

  async function hpaOf(name: string): Promise<Conditioned> {
    const { client, hpaVersion } = installed.controlPlane;
    return await client.get<Conditioned>(
      `/apis/${hpaVersion}/namespaces/default/horizontalpodautoscalers/${name}`,
    );
  }

  async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
    for (let checks = 0; !(await condition()); checks++) {
      if (checks === MAX_ATTEMPTS) {
        const state = await installed.run('describe', 'hpa').catch(String);
        throw new Error(`Never true: ${what}\n${autoscaler.output.slice(-10).join('\n')}\n${state}`);
      }
      await sleep(POLL_INTERVAL_MS);
    }
  }
});

interface Scaled {
  readonly spec: { readonly replicas?: number };
}

interface Scheduled {
  readonly status?: { readonly active?: boolean };
}

interface Conditioned {
  readonly status?: {
    readonly conditions: readonly { readonly type: string; readonly status: string }[] | null;
  };
}
