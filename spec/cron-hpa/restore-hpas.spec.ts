import { expect } from 'chai';
import { restoreController } from '#lib/cron-hpa/restore-hpas.ts';
import { readHpa } from '#lib/cron-hpa/target-conflicts.ts';
import { type CronHpaCluster, PATHS, startCronHpaCluster } from '#spec/support/cron-hpa-cluster.ts';
import { cronHpa } from '#spec/support/cron-hpas.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { createScaledObject } from '#spec/support/scaled-object-owner.ts';

const UP = { name: 'up', schedule: '0 0 8 * * *', targetSize: 9 };
const BEFORE_UP = '2026-07-15T07:59:00+08:00';
const OTHER_CLIENT = { 'autoscaling.stke.com/cron-hpa-min-replicas': '2>9' };

describe('restoreController', () => {
  let cluster: CronHpaCluster;

  beforeEach(async () => {
    cluster = await startCronHpaCluster(BEFORE_UP);
    await cluster.deployment('web', 2);
  });

  afterEach(() => cluster[Symbol.asyncDispose]());

  for (const [what, mode, bounds] of [
    ['minReplicas and maxReplicas of an HPA', undefined, { minReplicas: 9, maxReplicas: 9 }],
    ['bounds that were held', 'hold', { minReplicas: 9, maxReplicas: 9 }],
  ] as const)
    it(`restores ${what} when the object is deleted`, async () => {
      await createHpa({ 'example.com/own': 'text' });
      await run(mode);
      expect((await hpa()).spec).to.deep.include(bounds);
      await cluster.api.delete(`${PATHS.cronHpas}/web`);
      await until(async () => (await hpa()).spec.minReplicas === 2);
      const { metadata, spec } = await hpa();
      expect(spec).to.deep.include({ minReplicas: 2, maxReplicas: 5 });
      expect(metadata.annotations).to.deep.equal({ 'example.com/own': 'text' });
      expect(cluster.logger.lines.map(({ message }) => message)).to.include(
        'Changed minReplicas of HorizontalPodAutoscaler default/web from 9 to 2 (cronhpa: no job sets it any more)',
      );
    });

  it('restores them when the object was deleted while no controller ran', async () => {
    await createHpa();
    await run();
    await cluster.stop();
    await cluster.api.delete(`${PATHS.cronHpas}/web`);
    await cluster.lead();
    await until(async () => (await hpa()).spec.minReplicas === 2);
  });

  it('restores them when the object gets another target', async () => {
    await createHpa();
    await run();
    const spec = { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'other' } };
    await cluster.api.patch(`${PATHS.cronHpas}/web`, 'merge', { spec });
    await until(async () => (await hpa()).spec.minReplicas === 2);
  });

  it('restores them when the object may not change HPAs any more', async () => {
    await createHpa();
    await run('hold');
    const annotations = { 'platform.stke/adjust-hpa-min': 'false' };
    await cluster.api.patch(`${PATHS.cronHpas}/web`, 'merge', { metadata: { annotations } });
    await until(async () => (await hpa()).spec.minReplicas === 2);
    expect((await hpa()).spec).to.deep.include({ maxReplicas: 5 });
  });

  it('leaves values that another client has set since', async () => {
    await createHpa();
    await run();
    await cluster.api.patch(`${PATHS.hpas}/web`, 'merge', { spec: { minReplicas: 7 } });
    await cluster.api.delete(`${PATHS.cronHpas}/web`);
    await until(async () => (await hpa()).spec.maxReplicas === 7); // not below minReplicas
    expect((await hpa()).spec.minReplicas).to.equal(7);
    expect((await hpa()).metadata.annotations ?? {}).to.deep.equal({});
  });

  it('leaves an HPA whose target still has an object, that of a ScaledObject, and one that no job has changed', async () => {
    await createHpa();
    await run();
    await cluster.cronHpa('other', [UP], { spec: { scaleTargetRef: target('web') } });
    const deployments = ['free', 'owned'];
    for (const name of deployments) await cluster.deployment(name, 1);
    await createHpa({}, { name: 'free' });
    const owner = await createScaledObject(cluster.api, 'so'); // an HPA without its owner is deleted
    await createHpa(OTHER_CLIENT, { name: 'owned', minReplicas: 9, maxReplicas: 9, owner });
    await cluster.api.delete(`${PATHS.cronHpas}/web`);
    await cluster.clock.advance(60_000);
    expect((await hpa()).spec).to.deep.include({ minReplicas: 9, maxReplicas: 9 });
    expect((await hpa('free')).spec).to.deep.include({ minReplicas: 2, maxReplicas: 5 });
    expect((await hpa('owned')).spec).to.deep.include({ minReplicas: 9, maxReplicas: 9 });
    await cluster.api.delete(`${PATHS.cronHpas}/other`);
    await until(async () => (await hpa()).spec.minReplicas === 2);
  });

  it('restores a HorizontalPodAutoscaler that is itself the target', async () => {
    await createHpa();
    const scaleTargetRef = { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', name: 'web' };
    await run(undefined, { scaleTargetRef });
    await cluster.api.delete(`${PATHS.cronHpas}/web`);
    await until(async () => (await hpa()).spec.minReplicas === 2);
  });

  /** Leads until the job has run. */
  async function run(mode?: string, spec: object = {}): Promise<void> {
    const annotations = mode === undefined ? {} : { 'platform.stke/adjust-hpa-min': mode };
    await cluster.cronHpa('web', [UP], { spec, metadata: { annotations } });
    await cluster.lead();
    await until(async () => (await cluster.status('web')).conditions !== undefined);
    await cluster.clock.advance(60_000);
    await until(async () => (await cluster.status('web')).lastResult === 'Succeed up');
  }

  async function until(condition: () => Promise<boolean>): Promise<void> {
    for (let attempt = 0; attempt < 300; attempt++) {
      if (await condition()) return;
      await cluster.clock.advance(attempt % 10 === 9 ? 100 : 0);
    }
    throw new Error(`Condition never became true: ${condition}; ${JSON.stringify(cluster.logger.lines)}`);
  }

  async function hpa(name = 'web') {
    return (await cluster.api.get(`${PATHS.hpas}/${name}`)).body;
  }

  async function createHpa(
    annotations: object = {},
    {
      name = 'web',
      minReplicas = 2,
      maxReplicas = 5,
      owner,
    }: { name?: string; minReplicas?: number; maxReplicas?: number; owner?: object } = {},
  ): Promise<void> {
    const { status } = await cluster.api.post(PATHS.hpas, {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name, annotations, ...(owner && { ownerReferences: [owner] }) },
      spec: { scaleTargetRef: target(name), minReplicas, maxReplicas },
    });
    expect(status).to.equal(201);
  }
});

describe('restoreController in a namespace with many changed HPAs', () => {
  it('lists the objects once in ten seconds, and sees an object that was deleted since', async () => {
    const clock = new ManualClock(Date.parse(BEFORE_UP));
    const [lists, patched]: [string[], string[]] = [[], []];
    let objects = [cronHpa({ spec: { scaleTargetRef: target('a') } })];
    const source = { onChange: () => () => {}, synced: async () => {} };
    const reconcile = restoreController({
      hpas: { ...source, find: (key) => readHpa(changedHpa(key)) },
      cronHpas: [],
      hpasByTarget: () => [],
      cronHpasByTarget: () => [],
      async listCronHpas(namespace) {
        lists.push(namespace);
        return objects;
      },
      hpaClient: {
        get: async ({ name }) => changedHpa(`default/${name}`),
        async patch({ name }) {
          patched.push(name);
          return changedHpa(`default/${name}`);
        },
      },
      scaleLog: { minReplicasChanged() {} },
      clock,
    }).reconcile;
    const { signal } = new AbortController();
    for (const name of ['b', 'c', 'd']) await reconcile(`default/${name}`, signal);
    expect(await reconcile('default/a', signal)).to.deep.equal({ requeueAfterMs: 10_000 });
    expect([lists, patched]).to.deep.equal([['default'], ['b', 'c', 'd']]);
    objects = [];
    await clock.advance(10_000);
    await reconcile('default/a', signal);
    expect([lists, patched]).to.deep.equal([
      ['default', 'default'],
      ['b', 'c', 'd', 'a'],
    ]);
  });

  function changedHpa(key: string) {
    const [namespace = '', name = ''] = key.split('/');
    return {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { namespace, name, uid: name, resourceVersion: '1', annotations: OTHER_CLIENT },
      spec: { scaleTargetRef: target(name), minReplicas: 9, maxReplicas: 9 },
    };
  }
});

function target(name: string) {
  return { apiVersion: 'apps/v1', kind: 'Deployment', name };
}
