import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { freePort } from '#spec/support/free-port.ts';
import { requireProgram } from '#spec/support/machine-programs.ts';
import { type RealRedis, startRedis } from '#spec/support/real-redis.ts';
import type { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { needControllers } from '../control-plane/need-binaries.ts';
import { InstalledAutoscaler } from './installed-autoscaler.ts';
import {
  kedaApiService,
  kedaDefinitions,
  kedaHpa,
  kedaLease,
  kedaScaledObject,
  kedaStatus,
} from './keda-objects.ts';
import { ObservedObjects } from './observed-objects.ts';
import { deployment } from './scheduled-objects.ts';

const OBJECTS = '/apis/keda.sh/v1alpha1/namespaces/default/scaledobjects';
const SERVICE = 'v1beta1.external.metrics.k8s.io';
const HOLD = ['patch', 'lease', 'operator.keda.sh', '--namespace=keda', '--type=merge'] as const;
const METRIC = { name: 's0-redis-jobs', target: '10' };

interface Found {
  readonly metadata: {
    readonly uid: string;
    readonly finalizers?: readonly string[];
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
  readonly spec: { readonly metrics?: readonly object[]; readonly scaleTargetRef?: object };
  readonly status?: Readonly<Record<string, unknown>>;
}

// The steps build on each other, as docs/tasks/migrate-from-keda.md describes.
describe('ScaledObjects of KEDA, on a real API server', function () {
  this.timeout(600_000);
  this.bail(true);

  const stack = new AsyncDisposableStack();
  const watching = new AbortController();
  let installed: InstalledAutoscaler;
  let objects: ObservedObjects;
  let autoscaler: SpawnedProgram;
  let redis: RealRedis;
  let port: number;
  let first: { readonly object: Found; readonly hpa: Found };
  let min = Number.POSITIVE_INFINITY;

  before(async function () {
    const binaries = await needControllers(this);
    redis = stack.use(await startRedis(await requireProgram(this, 'redis-server')));
    for (let job = 0; job < 25; job++) await redis.send('RPUSH', 'jobs', `${job}`);
    installed = stack.use(
      await InstalledAutoscaler.start(binaries, 'autoscaler-scaled-objects', leaveAsKeda),
    );
    objects = new ObservedObjects(installed);
    stack.defer(() => watching.abort());
    void watch();
  });

  afterEach(function () {
    if (this.currentTest?.isFailed()) console.log(autoscaler?.output.slice(-20).join('\n'));
  });

  after(() => stack.disposeAsync());

  it('are migrated unchanged, with their HPAs, and lose no replica', async () => {
    port = await freePort();
    await installed.expose(port);
    autoscaler = await installed.startReplica([
      ...[`--secure-port=${port}`, '--allowed-hosts=127.0.0.0/8', '--leader-elect-lease-duration=3s'],
      ...['--leader-elect-renew-deadline=2s', '--leader-elect-retry-period=500ms'],
    ]);
    await autoscaler.line(/Serving/, 60_000);
    await installed.run('wait', '--for=condition=Available', `apiservice/${SERVICE}`, '--timeout=60s');
    // KEDA's operator still holds its lease; the autoscaler leaves its objects alone until it is released.
    await autoscaler.line(/Another operator manages ScaledObjects/, 60_000);
    const untouched = await found();
    expect(untouched.object.status).to.deep.equal(first.object.status);
    await installed.run(...HOLD, '--patch={"spec":{"holderIdentity":""}}');
    // One minute after the release: until then another KEDA replica could acquire the lease.
    await autoscaler.line(/No other operator manages ScaledObjects/, 180_000);
    await objects.untilCondition('web', 'HPAActive', 'True');
    const { object, hpa } = await found();
    expect(object.metadata.uid).to.equal(first.object.metadata.uid);
    expect(object.spec).to.deep.equal(first.object.spec);
    expect(object.status).to.include({ originalReplicaCount: 1, hpaName: 'keda-hpa-web' });
    expect(hpa.metadata.uid).to.equal(first.hpa.metadata.uid);
    expect(hpa.metadata.ownerReferences).to.deep.equal(first.hpa.metadata.ownerReferences);
    expect(hpa.spec).to.deep.equal(first.hpa.spec);
    expect(min).to.equal(3);
  });

  it('continue to scale', async () => {
    for (let job = 0; job < 20; job++) await redis.send('RPUSH', 'jobs', `${job}`);
    await objects.untilReplicas('web', 5);
    expect(min).to.equal(3);
  });

  it('are not managed while a KEDA without a lease adopts their HPA', async () => {
    const label = { metadata: { labels: { 'app.kubernetes.io/version': '2.20.2' } } };
    await installed.run(
      ...['patch', 'hpa', 'keda-hpa-web', '--type=merge', '--field-manager=keda'],
      `--patch=${JSON.stringify(label)}`,
    );
    await autoscaler.line(
      /Another operator manages some ScaledObjects .*"keda\\?" writes the HPA default/,
      60_000,
    );
    await sleep(3000); // time for another controller to revert the change
    const { client } = installed.controlPlane;
    const { metadata } = await client.get<{ metadata: { labels: object } }>(`${hpas()}/keda-hpa-web`);
    expect(metadata.labels).to.include(label.metadata.labels);
  });

  it('are rolled back to KEDA unchanged, and lose no replica', async () => {
    const isLeft = (line: string) => line.includes('Another operator manages ScaledObjects');
    const before = autoscaler.output.filter(isLeft).length;
    await installed.run(...HOLD, '--patch={"spec":{"holderIdentity":"keda-operator-2"}}');
    const isLeftAgain = async () => autoscaler.output.filter(isLeft).length > before;
    await objects.until(isLeftAgain, 'objects are left to KEDA again');
    autoscaler.kill('SIGTERM');
    await autoscaler.ended;
    min = Number.POSITIVE_INFINITY;
    await installed.run('delete', 'apiservice', SERVICE);
    await installed.apply(kedaApiService(installed.controlPlane.pki.serverCa.certificatePem));
    await replaceDefinitions();
    await sleep(5000); // two sync periods of the HPA controller
    const { object, hpa } = await found();
    expect(object.metadata).to.deep.include({
      uid: first.object.metadata.uid,
      finalizers: ['finalizer.keda.sh'],
    });
    expect(object.spec).to.deep.equal(first.object.spec);
    expect(Object.keys(object.status ?? {})).to.include.members([
      ...['scaleTargetKind', 'scaleTargetGVKR', 'originalReplicaCount', 'lastActiveTime'],
      ...['externalMetricNames', 'conditions', 'hpaName', 'triggersTypes'],
    ]);
    expect(hpa.metadata.uid).to.equal(first.hpa.metadata.uid);
    expect(hpa.metadata.ownerReferences).to.deep.equal(first.hpa.metadata.ownerReferences);
    expect(hpa.spec).to.deep.equal(first.hpa.spec);
    expect(min).to.equal(5);
  });

  /** Creates the objects of a cluster in which KEDA runs, without its APIService. */
  async function leaveAsKeda(cluster: InstalledAutoscaler): Promise<void> {
    installed = cluster;
    await cluster.run('create', 'namespace', 'keda');
    await cluster.apply(kedaLease());
    await replaceDefinitions();
    await cluster.run('wait', '--for=condition=Established', 'crd', '--all');
    await cluster.apply(kedaApiService(cluster.controlPlane.pki.serverCa.certificatePem));
    const { client } = cluster.controlPlane;
    const trigger = {
      type: 'redis',
      metadata: { address: redisAddress(), listName: 'jobs', listLength: '10' },
    };
    const behavior = { scaleDown: { stabilizationWindowSeconds: 1 } };
    const object = kedaScaledObject('web', {
      ...{ pollingInterval: 2, cooldownPeriod: 5, maxReplicaCount: 10, triggers: [trigger] },
      advanced: { horizontalPodAutoscalerConfig: { behavior } },
    });
    await cluster.apply(deployment('web', 3));
    const { metadata } = await client.create(OBJECTS, object);
    const apiVersion = installed.controlPlane.hpaVersion;
    await client.create(hpas(), kedaHpa('web', metadata.uid ?? '', { ...METRIC, apiVersion }));
    await writeStatus(cluster, { ...object, status: kedaStatus('web', METRIC.name) });
    first = await found();
    // See docs/tasks/migrate-from-keda.md: fields set by KEDA would remain, and conflict with ours.
    await cluster.run('delete', 'apiservice', SERVICE);
  }

  async function replaceDefinitions(): Promise<void> {
    const path = join(installed.controlPlane.folder, 'definitions.json');
    await writeFile(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: kedaDefinitions() }));
    await installed.run('apply', '--server-side', '--force-conflicts', '--filename', path);
  }

  async function writeStatus(cluster: InstalledAutoscaler, object: object): Promise<void> {
    const path = join(cluster.controlPlane.folder, 'status.json');
    const latest = await cluster.run(
      'get',
      'scaledobjects',
      'web',
      '--output=jsonpath={.metadata.resourceVersion}',
    );
    await writeFile(
      path,
      JSON.stringify({ ...object, metadata: { name: 'web', namespace: 'default', resourceVersion: latest } }),
    );
    await cluster.run('replace', '--raw', `${OBJECTS}/web/status`, '--filename', path);
  }

  function redisAddress(): string {
    return `${redis.host}:${redis.port}`;
  }

  async function found(): Promise<{ readonly object: Found; readonly hpa: Found }> {
    const { client } = installed.controlPlane;
    return {
      object: await client.get<Found>(`${OBJECTS}/web`),
      hpa: await client.get<Found>(`${hpas()}/keda-hpa-web`),
    };
  }

  function hpas(): string {
    return `/apis/${installed.controlPlane.hpaVersion}/namespaces/default/horizontalpodautoscalers`;
  }

  /** Records the minimum number of replicas. */
  async function watch(): Promise<void> {
    while (!watching.signal.aborted) {
      const count = await objects.replicas('web').catch(() => undefined);
      if (count !== undefined) min = Math.min(min, count);
      await sleep(100);
    }
  }
});
