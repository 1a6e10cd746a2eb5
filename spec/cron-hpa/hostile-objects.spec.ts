import { expect } from 'chai';
import { conflictWrites, forRequests } from '#simulator/api-server/faults.ts';
import { type CronHpaCluster, PATHS, startCronHpaCluster } from '#spec/support/cron-hpa-cluster.ts';
import { eventually } from '#spec/support/eventually.ts';

const UP = { name: 'up', schedule: '0 0 8 * * *', targetSize: 9 };
const YEAR_MS = 366 * 86_400_000;

describe('cronHpaController with hostile objects', () => {
  let cluster: CronHpaCluster;

  beforeEach(async () => {
    cluster = await startCronHpaCluster('2026-07-15T07:59:00+08:00');
    await cluster.deployment('web', 1);
  });
  afterEach(() => cluster[Symbol.asyncDispose]());

  /** Runs pending I/O and retries until the condition is true. */
  async function untilMet(condition: () => Promise<boolean>): Promise<void> {
    let attempts = 0;
    await eventually(async () => {
      await cluster.clock.advance(++attempts % 10 === 0 ? 10 : 0);
      return await condition();
    });
  }

  const isSubmitted = async () => (await cluster.status('web')).nextScheduleTime !== undefined;
  const isDone = async () => (await cluster.status('web')).lastResult === 'Succeed up';
  const reported = (reason: string) => cluster.events.filter((event) => event.startsWith(`web ${reason} `));

  it('is protected by the definition from objects with too many jobs or dates or too long schedules', async () => {
    for (const [jobs, spec] of [
      [Array.from({ length: 1000 }, (_, index) => ({ ...UP, name: `job-${index}` })), {}],
      [[{ ...UP, schedule: `0 0 ${'8,'.repeat(200)}9 * * *` }], {}],
      [[{ ...UP, excludeDates: Array(5000).fill('2026-12-25') }], {}],
      [[UP], { excludeDates: Array(5000).fill('2026-12-25') }],
    ] as const) {
      const refusal = await cluster.cronHpa('web', jobs, { spec }).catch((error: Error) => error.message);
      expect(refusal).to.match(/Invalid value|Too many|Too long|must have at most/);
    }
  });

  it('reports an invalid object that another definition admits once, and scales nothing', async () => {
    const definition = 'cronhorizontalpodautoscalers.autoscaling.stke.com';
    const jobsOf = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/jobs';
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition}`;
    await cluster.api.patch(path, 'json', [{ op: 'remove', path: `${jobsOf}/maxItems` }]);
    const many = Array.from({ length: 101 }, (_, index) => ({ ...UP, name: `job-${index}` }));
    await cluster.cronHpa('web', many);
    await cluster.lead();
    const ready = async () =>
      (await cluster.status('web')).conditions?.find(({ type }: { type?: string }) => type);
    await untilMet(async () => (await ready())?.reason === 'InvalidSpec');
    expect(await ready()).to.include({
      status: 'False',
      message: 'Nothing is scaled: spec.jobs has more than 100 items',
    });
    await cluster.clock.advance(120_000);
    expect(await cluster.replicas('web')).to.equal(1);
    await cluster.api.patch(`${PATHS.cronHpas}/web`, 'merge', { spec: { jobs: [UP] } });
    await untilMet(async () => (await ready())?.status === 'True');
    expect(reported('InvalidSpec')).to.have.length(1);
  });

  it('runs the due activation of an object with as many jobs and excluded dates as the definition allows', async () => {
    const jobs = Array.from({ length: 100 }, (_, index) => ({
      ...UP,
      name: `job-${String(index).padStart(59, '0')}`,
      schedule: `0 ${index % 60} 8 ${Array.from({ length: 80 }, (_, day) => (day % 28) + 1).join(',')} * *`,
      excludeDates: Array.from({ length: 366 }, () => '30 2 ?'),
    }));
    const annotations = { large: 'x'.repeat(200 * 1024) };
    const spec = { excludeDates: Array.from({ length: 366 }, () => '30 2 ?') };
    await cluster.cronHpa('web', jobs, { spec, metadata: { annotations } });
    await cluster.lead();
    await untilMet(isSubmitted);
    await cluster.clock.advance(60_000);
    await untilMet(async () => (await cluster.replicas('web')) === 9);
    await untilMet(async () => (await cluster.status('web')).lastResult?.startsWith('Succeed'));
    expect((await cluster.status('web')).conditions).to.have.length(101);
    expect(cluster.logger.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  it('follows a clock that is stepped by a year, forward and back, and runs nothing twice', async () => {
    await cluster.cronHpa('web', [UP]);
    await cluster.lead();
    await untilMet(isSubmitted);
    cluster.clock.stepWall(YEAR_MS);
    await cluster.clock.advance(5000);
    await untilMet(isDone); // the missed activations of a year are one event
    expect(reported('Scaled')).to.have.length(1);
    expect(reported('ScheduleMissed')).to.have.length(1);
    cluster.clock.stepWall(-YEAR_MS);
    await cluster.clock.advance(5000);
    await untilMet(async () => (await cluster.status('web')).nextScheduleTime === '2026-07-15T00:00:00Z');
    await cluster.api.patch(`${PATHS.deployments}/web`, 'merge', { spec: { replicas: 4 } });
    expect(reported('Scaled')).to.have.length(1);
    await cluster.clock.advance(60_000); // the clock reaches 08:00 a second time
    await untilMet(async () => (await cluster.replicas('web')) === 9);
    await untilMet(async () => reported('Scaled').length === 2);
    expect(cluster.logger.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  it('gives up soon in a storm of conflicts, reports it once, and runs the activation afterwards', async () => {
    await cluster.cronHpa('web', [UP]);
    await cluster.lead();
    await untilMet(isSubmitted);
    cluster.setFaults(forRequests({ resource: 'deployments' }, conflictWrites(20)));
    await cluster.clock.advance(60_000);
    await untilMet(async () => reported('ScalingFailed').length > 0);
    for (let second = 0; second < 60; second++) {
      await cluster.clock.advance(1000);
      await cluster.status('web');
    }
    await untilMet(isDone);
    expect(await cluster.replicas('web')).to.equal(9);
    expect(reported('ScalingFailed')).to.have.length(1);
    expect(reported('Scaled')).to.have.length(1);
  });

  it('does the same when the conflicts are in the status', async () => {
    await cluster.cronHpa('web', [UP]);
    await cluster.lead();
    await untilMet(isSubmitted);
    cluster.setFaults(forRequests({ resource: 'cronhorizontalpodautoscalers' }, conflictWrites(20)));
    await cluster.clock.advance(60_000);
    await untilMet(isDone);
    expect(await cluster.replicas('web')).to.equal(9);
    const errors = cluster.logger.lines.filter(({ level }) => level === 'error');
    expect(errors.map(({ message }) => message)).to.deep.equal(['Cannot reconcile object; retrying']);
  });
});
