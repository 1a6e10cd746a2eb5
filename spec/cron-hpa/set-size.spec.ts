import { expect } from 'chai';
import { ScaleClient } from '#lib/control/scale-client.ts';
import { ScaleLog } from '#lib/control/scale-log.ts';
import type { CronHpa } from '#lib/cron-hpa/cron-hpa.ts';
import type { HpaClient } from '#lib/cron-hpa/hpa-bounds.ts';
import { setSize } from '#lib/cron-hpa/set-size.ts';
import { type Hpa, readHpa } from '#lib/cron-hpa/target-conflicts.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { HPAS } from '#lib/kubernetes/objects/hpa-versions.ts';
import { systemClock } from '#lib/time/clock.ts';
import { PATHS } from '#spec/support/cron-hpa-cluster.ts';
import { cronHpa, hpa } from '#spec/support/cron-hpas.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const ADJUST_HPA_MIN = 'platform.stke/adjust-hpa-min';

const { signal } = new AbortController();
const WEB = `${PATHS.hpas}/web`;

describe('setSize', () => {
  let server: SimulatedApiServer;
  let api: ApiClient;
  let scales: ScaleClient;
  let hpaClient: HpaClient;
  let logger: RecordingLogger;

  beforeEach(async () => {
    server = await startSimulatedApiServer();
    const { clock } = server;
    api = new ApiClient({ access: await server.access(), clock, userAgent: 'spec' });
    logger = new RecordingLogger();
    const scaleLog = new ScaleLog({ logger });
    scales = new ScaleClient({ api, mapper: new RestMapper({ api, clock }), clock, scaleLog });
    hpaClient = new ResourceClient({ api, resource: { ...HPAS.resource, version: 'v1' } });
    await server.client.post(PATHS.deployments, deployment('web', 2));
  });

  afterEach(async () => {
    await api[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  const set = (size: number, existing?: Hpa, object: CronHpa = cronHpa()) =>
    setSize(object, size, {
      ...{ scales, hpaClient, hpa: existing, signal, scaleLog: new ScaleLog({ logger }) },
      cause: { by: 'cronhpa web', why: 'job peak' },
      clock: systemClock, // waits some milliseconds after a conflict
    });
  const replicas = async () => (await server.client.get(`${PATHS.deployments}/web`)).body.spec.replicas;
  const minReplicas = async () => (await server.client.get(WEB)).body.spec.minReplicas;
  const patch = (body: object) => server.client.patch(WEB, 'merge', body);

  /** Creates an HPA, and returns it as the informer caches it. */
  async function createHpa(min: number, max: number): Promise<Hpa> {
    const { body } = await server.client.post(PATHS.hpas, {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'web' },
      spec: { scaleTargetRef: hpa().scaleTargetRef, minReplicas: min, maxReplicas: max },
    });
    const read = readHpa(body);
    if (!read) throw new Error('It is no HPA');
    return read;
  }

  it('sets the replicas of a target, and writes nothing when they are equal', async () => {
    const done = { adjustType: 'scale replicas', current: 2, desired: 4 };
    expect(await set(4)).to.deep.equal(done);
    expect(await replicas()).to.equal(4);
    const before = (await server.client.get(`${PATHS.deployments}/web`)).body.metadata.generation;
    expect(await set(4)).to.deep.equal({ ...done, current: 4 });
    expect((await server.client.get(`${PATHS.deployments}/web`)).body.metadata.generation).to.equal(before);
  });

  it('sets minReplicas of an HPA, and leaves the target to the HPA', async () => {
    const existing = await createHpa(1, 5);
    expect(await set(4, existing)).to.deep.equal({ adjustType: 'hpa min replicas', current: 1, desired: 4 });
    expect([await minReplicas(), await replicas()]).to.deep.equal([4, 2]);
    const { managedFields } = (await server.client.get(WEB)).body.metadata;
    const managers = managedFields.map(({ manager }: { readonly manager: string }) => manager);
    expect(managers).to.include('autoscaler-cronhpa');
  });

  it('sets replicas of a target that has none, which an HPA does not scale', async () => {
    await server.client.patch(`${PATHS.deployments}/web`, 'merge', { spec: { replicas: 0 } });
    await set(3, await createHpa(1, 5));
    expect(await replicas()).to.equal(3);
  });

  it("reads the HPA again instead of using the informer's version", async () => {
    const existing = await createHpa(4, 5);
    await patch({ spec: { minReplicas: 2 } });
    expect(await set(4, existing)).to.deep.include({ current: 2, desired: 4 });
    expect(await minReplicas()).to.equal(4);
  });

  it('scales the target when the HPA of the informer is deleted or has another target', async () => {
    const existing = await createHpa(1, 5);
    await patch({ spec: { scaleTargetRef: { kind: 'Deployment', name: 'other' } } });
    expect(await set(3, existing)).to.deep.include({ adjustType: 'scale replicas', desired: 3 });
    expect([await minReplicas(), await replicas()]).to.deep.equal([1, 3]);
    await server.client.delete(WEB);
    expect(await set(4, existing)).to.deep.include({ adjustType: 'scale replicas', desired: 4 });
  });

  it('does not change an HPA that a ScaledObject has taken over', async () => {
    const existing = await createHpa(1, 5);
    const owner = {
      apiVersion: 'keda.sh/v1alpha1',
      kind: 'ScaledObject',
      name: 'so',
      uid: 'u',
      controller: true,
    };
    await patch({ metadata: { ownerReferences: [owner] } });
    expect(await errorOf(set(3, existing))).to.match(/is managed by ScaledObject "so"/);
    expect([await minReplicas(), await replicas()]).to.deep.equal([1, 2]);
  });

  it('retries when the HPA changes during the write', async () => {
    const existing = await createHpa(1, 5);
    const real = hpaClient;
    const signals: AbortSignal[] = [];
    let isFirst = true;
    hpaClient = {
      get: (name, options) => {
        signals.push(options.signal);
        return real.get(name, options);
      },
      patch: async (...call) => {
        if (isFirst) await patch({ spec: { maxReplicas: 6 } });
        isFirst = false;
        signals.push(call[2].signal);
        return await real.patch(...call);
      },
    };
    await set(3, existing);
    expect(signals, 'the signal of each request').to.deep.equal(Array(4).fill(signal));
    expect((await server.client.get(WEB)).body.spec).to.deep.include({ minReplicas: 3, maxReplicas: 6 });
  });

  it('changes nothing when the HPA cannot be read', async () => {
    const existing = await createHpa(1, 5);
    hpaClient = { get: async () => ({ metadata: { name: 'web' } }), patch: hpaClient.patch };
    expect(await errorOf(set(3, existing))).to.equal('HorizontalPodAutoscaler "web" is malformed');
    expect([await minReplicas(), await replicas()]).to.deep.equal([1, 2]);
  });

  it('gives up when the HPA changes repeatedly', async () => {
    const existing = await createHpa(1, 5);
    const real = hpaClient;
    let max = 5;
    hpaClient = {
      get: (...call) => real.get(...call),
      patch: async (...call) => {
        await patch({ spec: { maxReplicas: ++max } });
        return await real.patch(...call);
      },
    };
    expect(await errorOf(set(3, existing))).to.match(/\(status 409\)/);
    expect(max, 'one change for each of five attempts').to.equal(10);
    expect(await minReplicas()).to.equal(1);
  });

  it('sets nothing if an HPA has the target and the annotation is false', async () => {
    const own = cronHpa({ annotations: { [ADJUST_HPA_MIN]: 'false' } });
    expect(await set(3, undefined, own)).to.include({ adjustType: 'scale replicas', desired: 3 });
    const existing = await createHpa(1, 5);
    const message = await errorOf(set(4, existing, own));
    expect(message).to.include('HorizontalPodAutoscaler "web" scales Deployment "web"');
    expect(message).to.include(`CronHorizontalPodAutoscaler "${own.name}"`);
    expect(await minReplicas()).to.equal(1);
  });

  it('sets both bounds of an HPA if the annotation is hold, and the replicas without one', async () => {
    const own = cronHpa({ annotations: { [ADJUST_HPA_MIN]: 'hold' } });
    expect(await set(3, undefined, own)).to.include({ adjustType: 'scale replicas', desired: 3 });
    const existing = await createHpa(1, 5);
    const done = { adjustType: 'hpa min and max replicas', current: 1, desired: 4 };
    expect(await set(4, existing, own)).to.deep.equal(done);
    const { metadata, spec } = (await server.client.get(WEB)).body;
    expect(spec).to.deep.include({ minReplicas: 4, maxReplicas: 4 });
    expect(metadata.annotations).to.deep.include({
      'autoscaling.stke.com/cron-hpa-min-replicas': '1>4',
      'autoscaling.stke.com/cron-hpa-raised-max-replicas': '5>4',
    });
    expect(await set(7, existing, own)).to.include({ current: 4, desired: 7 });
    expect((await server.client.get(WEB)).body.spec).to.deep.include({ minReplicas: 7, maxReplicas: 7 });
    expect(await errorOf(set(0, existing, own))).to.include('cannot have minReplicas 0');
  });

  it('requires an HPA when the annotation is set, and rejects size 0 for one', async () => {
    const requested = cronHpa({ annotations: { [ADJUST_HPA_MIN]: 'true' } });
    const missing = 'no HorizontalPodAutoscaler scales Deployment "web"';
    expect(await errorOf(set(3, undefined, requested))).to.equal(missing);
    const named = cronHpa({
      spec: { scaleTargetRef: { apiVersion: '', kind: 'HorizontalPodAutoscaler', name: 'web' } },
    });
    expect(await errorOf(set(3, undefined, named))).to.equal(
      'no HorizontalPodAutoscaler scales HorizontalPodAutoscaler "web"',
    );
    const existing = await createHpa(1, 5);
    expect(await errorOf(set(0, existing))).to.equal(
      'HorizontalPodAutoscaler "web" cannot have minReplicas 0',
    );
    expect(await set(3, existing, named)).to.deep.include({ adjustType: 'hpa min replicas', current: 1 });
  });
});

function deployment(name: string, count: number) {
  const labels = { app: name };
  const containers = [{ name: 'main', image: 'x' }];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas: count,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
}
