import { expect } from 'chai';
import { readAlibabaCronHpa } from '#lib/cron-hpa/alibaba-cron-hpa.ts';
import { ALIBABA_DEFINITION } from '#spec/support/alibaba-definition.ts';
import { type CronHpaCluster, PATHS, startCronHpaCluster } from '#spec/support/cron-hpa-cluster.ts';

const OBJECTS = '/apis/autoscaling.alibabacloud.com/v1beta1/namespaces/default/cronhorizontalpodautoscalers';
const STATUS = 'autoscaling.stke.com/cron-hpa-status';
const TARGET = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const UP = { name: 'up', schedule: '0 0 8 * * *', targetSize: 9 };

describe('readAlibabaCronHpa', () => {
  const read = (spec: object, more: object = {}) =>
    readAlibabaCronHpa({
      metadata: {
        ...{ namespace: 'default', name: 'web', uid: 'u', resourceVersion: '7', generation: 12 },
        ...{ creationTimestamp: '2026-07-15T00:00:00Z', ...more },
      },
      spec: { scaleTargetRef: TARGET, ...spec },
    });

  it('reads the spec as that of the own kind', () => {
    const object = read({ jobs: [UP], excludeDates: null });
    expect(object).to.deep.include({
      group: 'autoscaling.alibabacloud.com',
      generation: 1,
      problem: undefined,
    });
    expect(object?.spec).to.deep.equal({
      scaleTargetRef: TARGET,
      jobs: [{ ...UP, runOnce: false, suspend: false, excludeDates: [] }],
      excludeDates: [],
    });
  });

  it('begins schedules and excluded dates of five fields with the second', () => {
    const schedules = [
      '*/5 * * * *',
      ' 0 30 8 * *  ',
      '0 0 8 * * MON',
      '@date 2026-10-27 21:54:00',
      '@daily',
    ];
    const jobs = schedules.map((schedule, index) => ({ name: `${index}`, schedule, targetSize: 1 }));
    const object = read({ jobs, excludeDates: ['* * * 15 11', '* * * 16 11 *'] });
    expect(object?.spec.jobs.map(({ schedule }) => schedule)).to.deep.equal([
      ...['*/5 * * * * *', '0 30 8 * * *', '0 0 8 * * MON', '@date 2026-10-27 21:54:00', '@daily'],
    ]);
    expect(object?.spec.excludeDates).to.deep.equal(['* * * 15 11 *', '* * * 16 11 *']);
  });

  it('suspends all jobs with cronMode: Disable', () => {
    const suspended = (cronMode: string) => read({ jobs: [UP], cronMode })?.spec.jobs[0]?.suspend;
    expect([suspended('Disable'), suspended('Enable')]).to.deep.equal([true, false]);
  });

  for (const [what, spec, problem] of [
    ['without jobs', {}, 'spec.jobs is not of type array'],
    ['with jobs of another type', { jobs: 'all' }, 'spec.jobs is not of type array'],
    ['with a job of another type', { jobs: [7] }, 'spec.jobs.0 is not of type object'],
    ['with a negative size', { jobs: [{ ...UP, targetSize: -1 }] }, 'spec.jobs.0.targetSize is less than 0'],
    [
      'with dates of another type',
      { jobs: [UP], excludeDates: {} },
      'spec.excludeDates is not of type array',
    ],
    [
      'with a name that would fill the status',
      { jobs: [UP, { ...UP, name: 'n'.repeat(129) }] },
      'spec.jobs.1.name has more than 128 characters',
    ],
    [
      'with a schedule that would fill the status',
      { jobs: [{ ...UP, schedule: '1'.repeat(257) }] },
      'spec.jobs.0.schedule has more than 256 characters',
    ],
    ['without a target', { jobs: [UP], scaleTargetRef: null }, 'spec.scaleTargetRef is not of type object'],
  ] as const)
    it(`returns the problem of an object ${what}`, () => {
      expect(read(spec)?.problem).to.equal(problem);
    });

  it('treats a malformed status annotation as absent', () => {
    for (const text of ['{', 'null', '[]', '{"conditions":7}']) {
      const object = read({ jobs: [UP] }, { annotations: { [STATUS]: text } });
      expect(object?.status.jobs, text).to.deep.equal([]);
    }
  });

  it('returns undefined for a value that is no object', () => {
    for (const value of [null, 7, {}, { metadata: {} }])
      expect(readAlibabaCronHpa(value)).to.equal(undefined);
  });
});

describe('cronHpaController of ALIBABA_CRON_HPA', () => {
  let cluster: CronHpaCluster;

  beforeEach(async () => {
    cluster = await startCronHpaCluster('2026-07-15T07:59:00+08:00', {}, { runsAlibaba: true });
    await cluster.api.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', ALIBABA_DEFINITION);
    await cluster.deployment('web', 2);
  });

  afterEach(() => cluster[Symbol.asyncDispose]());

  it('scales by its schedules, and writes the status in its form', async () => {
    const date = { name: 'date', schedule: '@date 2026-07-15 08:00:30', targetSize: 4 };
    await create([UP, date]);
    await cluster.lead();
    await until(async () => (await conditions()).length === 2);
    expect((await conditions()).map(({ state }) => state)).to.deep.equal(['Submitted', 'Submitted']);
    expect((await conditions())[0]).not.to.have.property('message'); // Kubernetes 1.20 refuses an empty one
    await cluster.clock.advance(60_000);
    await until(async () => (await conditions())[0]?.state === 'Succeed');
    expect(await cluster.replicas('web')).to.equal(9);
    await cluster.clock.advance(30_000);
    await until(async () => (await conditions())[1]?.state === 'Succeed');
    expect(await cluster.replicas('web')).to.equal(4);
    const { status, metadata } = await object();
    expect(status).to.deep.include({ scaleTargetRef: TARGET, excludeDates: [], cronMode: 'Enable' });
    const [first, second] = status.conditions;
    expect(first).to.deep.include({ ...UP, runOnce: false });
    expect(second).to.deep.include({ ...date, runOnce: true });
    expect(first.message).to.match(/^cron hpa job up executed successfully\. current scale/);
    expect(first.jobId).to.match(/^[0-9a-f-]{36}$/);
    expect(Object.keys(first).sort()).to.deep.equal(
      'jobId lastProbeTime message name runOnce schedule state targetSize'.split(' '),
    );
    expect(JSON.parse(metadata.annotations[STATUS]).lastResult).to.equal('Succeed date');
    expect(cluster.events.map((event) => event.split(' ').slice(0, 2).join(' '))).to.deep.equal([
      ...['web Scaled', 'web Scaled'],
    ]);
  });

  it('does not write again without a change, nor repeat an activation under a new leader', async () => {
    await create([UP]);
    await cluster.lead();
    await until(async () => (await conditions()).length === 1);
    await cluster.clock.advance(60_000);
    await until(async () => (await conditions())[0]?.state === 'Succeed');
    await cluster.clock.advance(10_000);
    const { metadata } = await object();
    await cluster.api.patch(`${PATHS.deployments}/web`, 'merge', { spec: { replicas: 1 } });
    await cluster.stop();
    await cluster.lead();
    await cluster.clock.advance(3_600_000);
    expect((await object()).metadata.resourceVersion).to.equal(metadata.resourceVersion);
    expect(await cluster.replicas('web')).to.equal(1);
  });

  it('writes over other changes of the object, such as those of its labels', async () => {
    await create([UP]);
    await cluster.lead();
    await until(async () => (await conditions()).length === 1);
    await cluster.api.patch(`${OBJECTS}/web`, 'merge', { metadata: { labels: { a: 'b' } } });
    await cluster.clock.advance(60_000);
    await until(async () => (await conditions())[0]?.state === 'Succeed');
    expect((await object()).metadata.labels).to.deep.equal({ a: 'b' });
  });

  it('refuses two objects of both kinds with one target, and names the other one', async () => {
    await cluster.cronHpa('web', [UP]);
    await create([UP]);
    await cluster.lead();
    const ready = async () => {
      const { conditions: all = [] } = await cluster.status('web');
      return all.find(({ type }: { type?: string }) => type === 'Ready') ?? {};
    };
    await until(async () => (await ready()).reason === 'TargetConflict');
    expect((await ready()).message).to.match(
      /^CronHorizontalPodAutoscaler\.autoscaling\.alibabacloud\.com "web" also scales Deployment "web"/,
    );
    await until(async () => (await conditions())[0]?.state === 'Failed');
    expect((await conditions())[0]?.message).to.match(
      /^CronHorizontalPodAutoscaler\.autoscaling\.stke\.com "web"/,
    );
    await cluster.clock.advance(120_000);
    expect(await cluster.replicas('web')).to.equal(2);
    await cluster.api.delete(`${PATHS.cronHpas}/web`);
    await until(async () => (await conditions())[0]?.state === 'Succeed');
    expect(await cluster.replicas('web')).to.equal(9);
  });

  it('restores an HPA when the object is deleted', async () => {
    const spec = { scaleTargetRef: TARGET, minReplicas: 2, maxReplicas: 5 };
    const hpa = {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'web' },
      spec,
    };
    await cluster.api.post(PATHS.hpas, hpa);
    await create([UP]);
    await cluster.lead();
    await until(async () => (await conditions()).length === 1);
    await cluster.clock.advance(60_000);
    await until(async () => (await hpaSpec()).minReplicas === 9);
    await cluster.clock.advance(60_000);
    expect(await hpaSpec()).to.include({ minReplicas: 9, maxReplicas: 9 });
    await cluster.api.delete(`${OBJECTS}/web`);
    await until(async () => (await hpaSpec()).minReplicas === 2);
    expect(await hpaSpec()).to.include({ minReplicas: 2, maxReplicas: 5 });
  });

  it('runs activations only after it first observed an object of the other controller', async () => {
    await create([UP]);
    const condition = {
      ...UP,
      runOnce: false,
      jobId: 'j',
      state: 'Succeed',
      lastProbeTime: '2026-07-14T00:00:00Z',
    };
    await cluster.api.patch(`${OBJECTS}/web`, 'merge', { status: { conditions: [condition] } });
    await cluster.clock.advance(90_000);
    await cluster.lead();
    await until(async () => (await object()).metadata.annotations?.[STATUS] !== undefined);
    await cluster.clock.advance(10_000);
    expect(await cluster.replicas('web')).to.equal(2);
    await cluster.clock.advance(86_400_000);
    await until(async () => (await cluster.replicas('web')) === 9);
  });

  async function create(jobs: readonly object[]): Promise<void> {
    const { status } = await cluster.api.post(OBJECTS, {
      apiVersion: 'autoscaling.alibabacloud.com/v1beta1',
      kind: 'CronHorizontalPodAutoscaler',
      metadata: { name: 'web' },
      spec: { scaleTargetRef: TARGET, jobs },
    });
    expect(status).to.equal(201);
  }

  async function object() {
    return (await cluster.api.get(`${OBJECTS}/web`)).body;
  }

  async function conditions(): Promise<readonly { readonly state: string; readonly message: string }[]> {
    return (await object()).status?.conditions ?? [];
  }

  async function hpaSpec() {
    return (await cluster.api.get(`${PATHS.hpas}/web`)).body.spec;
  }

  async function until(condition: () => Promise<boolean>): Promise<void> {
    for (let attempt = 0; attempt < 300; attempt++) {
      if (await condition()) return;
      await cluster.clock.advance(attempt % 10 === 9 ? 100 : 0);
    }
    throw new Error(`Condition never became true: ${condition}; ${JSON.stringify(cluster.logger.lines)}`);
  }
});

describe('cronHpaController without the definition of ALIBABA_CRON_HPA', () => {
  it('runs the objects of the own kind', async () => {
    await using cluster = await startCronHpaCluster('2026-07-15T07:59:00+08:00', {}, { runsAlibaba: true });
    await cluster.deployment('web', 2);
    await cluster.cronHpa('web', [UP]);
    await cluster.lead();
    for (let attempt = 0; (await cluster.status('web')).conditions === undefined && attempt < 200; attempt++)
      await cluster.clock.advance(0);
    await cluster.clock.advance(60_000);
    for (let attempt = 0; (await cluster.replicas('web')) !== 9 && attempt < 200; attempt++)
      await cluster.clock.advance(0);
    expect(await cluster.replicas('web')).to.equal(9);
  });
});
