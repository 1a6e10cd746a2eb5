import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { findMariadb, type RealDatabase, startMariadb } from '#spec/support/real-databases.ts';
import { findPrometheus, type RealPrometheus, startPrometheus } from '#spec/support/real-prometheus.ts';
import type { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { freePort } from '#spec/support/spawned-server.ts';
import { needControllers } from '../control-plane/need-binaries.ts';
import { InstalledAutoscaler } from './installed-autoscaler.ts';
import { ReadyPods } from './ready-pods.ts';
import { externalMetric, objectMetric, podsMetric, scaledByMetrics } from './scaled-by-metrics.ts';
import { deployment } from './scheduled-objects.ts';

const ACCOUNT = 'system:serviceaccount:kube-system:autoscaler';
const PATIENCE_MS = 90_000;
/** What an HPA counts as, as long as nothing new is known of it: three intervals of two seconds. */
const VALID_MS = 6_000;

// One story: each step finds what the steps before it left.
describe('custom and external metrics, served through the real aggregator to the real HPA controller', function () {
  this.timeout(600_000);
  this.bail(true);

  const stack = new AsyncDisposableStack();
  /** What the exporter says. */
  const depth = { mails: 1, orders: 1 };
  let binary: string;
  let installed: InstalledAutoscaler;
  let autoscaler: SpawnedProgram;
  let prometheus: RealPrometheus;
  let exporter: LoopbackServer;
  let application: LoopbackServer;
  let pods: ReadyPods;
  let mariadb: RealDatabase | undefined;
  /** What all pods of `web` have to do together. */
  let load = 1;

  before(async function () {
    const binaries = await needControllers(this);
    const found = await findPrometheus();
    if (found === undefined) {
      console.log('  SKIPPED: there is no prometheus on this machine, nor could it be installed');
      return this.skip();
    }
    binary = found;
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
    const mariadbd = await findMariadb();
    mariadb = mariadbd === undefined ? undefined : stack.use(await startMariadb(mariadbd));
  });

  after(async () => {
    await prometheus?.[Symbol.asyncDispose]();
    await stack.disposeAsync();
  });

  it('become available as APIServices once the autoscaler of the manifests runs', async () => {
    const port = await freePort();
    await installed.expose(port);
    const sources: string[] = [];
    if (mariadb) {
      const file = join(installed.controlPlane.folder, 'jobs.yaml');
      const facts = { system: 'mariadb', host: '127.0.0.1', port: mariadb.port };
      const source = {
        ...facts,
        user: 'reader',
        password: 'secret',
        database: 'shop',
        tls: { ca: mariadb.ca },
      };
      await writeFile(file, JSON.stringify(source), { mode: 0o600 });
      sources.push(`--sql-source=jobs=${file}`);
    }
    autoscaler = await installed.startReplica([
      ...sources,
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

  it('scale a Deployment from 1 to 4 and back to 1 by a query of MariaDB', async function () {
    if (!mariadb) {
      console.log('      SKIPPED: there is no MariaDB on this machine that could be started');
      return this.skip();
    }
    await mariadb.run('CREATE TABLE jobs (id integer); INSERT INTO jobs VALUES (1)');
    const config = 'metric-config.external.waiting-jobs.sql';
    await installed.apply(
      deployment('reports', 1),
      scaledByMetrics('reports', {
        annotations: {
          [`${config}/source`]: 'jobs',
          [`${config}/query`]: 'SELECT count(*) FROM jobs',
          [`${config}/interval`]: '2s',
        },
        metrics: [externalMetric('waiting-jobs', { averageValue: '1', matchLabels: { type: 'sql' } })],
      }),
    );
    await untilConditionIs('reports', 'ScalingActive', 'True');
    await mariadb.run('INSERT INTO jobs VALUES (2), (3), (4)');
    await untilReplicas('reports', 4);
    await mariadb.run('DELETE FROM jobs WHERE id > 1');
    await untilReplicas('reports', 1);
  });

  it('hold the replicas while Prometheus is down, and go on once it is back', async () => {
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

  it('were served by what the manifests permit, and nothing that they do not', async () => {
    await autoscaler[Symbol.asyncDispose](); // a watch is in the log once it has ended
    const events = (await installed.controlPlane.auditEvents()).filter(({ user }) => user === ACCOUNT);
    expect(events.filter(({ status }) => status === 401 || status === 403)).to.deep.equal([]);
    const used = new Set(events.map(({ verb, resource }) => `${verb} ${resource}`));
    expect([...used]).to.include.members([
      'list horizontalpodautoscalers.autoscaling',
      'watch horizontalpodautoscalers.autoscaling',
      'create subjectaccessreviews.authorization.k8s.io',
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

  async function untilConditionIs(name: string, type: string, status: string): Promise<void> {
    await until(`${name} is ${type}=${status}`, async () => {
      const conditions = (await hpaOf(name)).status?.conditions ?? [];
      return conditions.some((one) => one.type === type && one.status === status);
    });
  }

  async function hpaOf(name: string): Promise<Conditioned> {
    const path = `/apis/autoscaling/v2beta2/namespaces/default/horizontalpodautoscalers/${name}`;
    return await installed.controlPlane.client.get<Conditioned>(path);
  }

  async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const deadlineMs = Date.now() + PATIENCE_MS;
    while (!(await holds())) {
      if (Date.now() > deadlineMs) {
        const state = await installed.run('describe', 'hpa').catch(String);
        throw new Error(`Never true: ${what}\n${autoscaler.output.slice(-10).join('\n')}\n${state}`);
      }
      await sleep(250);
    }
  }
});

interface Scaled {
  readonly spec: { readonly replicas?: number };
}

interface Conditioned {
  readonly status?: {
    readonly conditions: readonly { readonly type: string; readonly status: string }[] | null;
  };
}
