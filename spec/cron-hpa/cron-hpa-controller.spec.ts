import { expect } from 'chai';
import { type CronHpaCluster, PATHS, startCronHpaCluster } from '#spec/support/cron-hpa-cluster.ts';
import { createScaledObject } from '#spec/support/scaled-object-owner.ts';

const RAISED_MAX = 'autoscaling.stke.com/cron-hpa-raised-max-replicas';

const UP = { name: 'scale-up', schedule: '0 0 8 * * *', targetSize: 9 };
const DOWN = { name: 'scale-down', schedule: '0 0 20 * * *', targetSize: 3 };
const HOUR_MS = 3_600_000;

describe('cronHpaController', () => {
  it('scales a Deployment by schedule, with the messages of TKE', async () => {
    await using cluster = await startCronHpaCluster('2019-12-18T22:50:00+08:00');
    await cluster.deployment('web', 5);
    const scaleTargetRef = { apiVersion: 'extensions/v1beta1', kind: 'Deployment', name: 'web' };
    await cluster.cronHpa('web', [{ name: 'scale-down', schedule: '0 */7 * * * ?', targetSize: 3 }], {
      spec: { scaleTargetRef },
    });
    await cluster.lead();
    await submitted(cluster, 'web');
    expect(await cluster.replicas('web')).to.equal(5);
    await cluster.clock.advance(6 * 60_000); // 22:56
    await untilMet(cluster, async () => (await cluster.replicas('web')) === 3);
    await cluster.clock.advance(4 * 60_000); // 23:00
    await untilMet(cluster, async () =>
      (await cluster.status('web')).conditions[0].message.includes('23:00'),
    );
    const { conditions, scaleUpKeepWindow, nextScheduleTime } = await cluster.status('web');
    expect(conditions[0].message).to.equal(
      'cron hpa job scale-down executed successfully. current scale (namespace:default;kind: Deployment;name: web) ' +
        'replicas:3, desired scale replicas:3,adjustType:[scale replicas]. time:2019-12-18 23:00:00, next:2019-12-18 23:07:00',
    );
    expect(conditions[0]).to.deep.include({ state: 'Succeed', lastProbeTime: '2019-12-18T15:00:00Z' });
    expect(conditions[1]).to.deep.include({ type: 'Ready', status: 'True', reason: 'Scheduled' });
    expect(scaleUpKeepWindow).to.equal(false);
    expect(nextScheduleTime).to.equal('2019-12-18T15:07:00Z');
    expect(cluster.events).to.have.length(1);
    expect(cluster.events[0]).to.match(/^web Scaled cron hpa job scale-down executed successfully\./);
  });

  it('reports the next activation of other jobs after a job with runOnce, or none', async () => {
    await using cluster = await startCronHpaCluster('2026-07-15T07:00:00+08:00');
    const once = { name: 'once', schedule: '0 */7 * * * *', targetSize: 3, runOnce: true };
    await cluster.deployment('alone', 1);
    await cluster.cronHpa('alone', [once]);
    await cluster.deployment('web', 1);
    await cluster.cronHpa('web', [once, DOWN]);
    await cluster.lead();
    await submitted(cluster, 'web');
    await cluster.clock.advance(7 * 60_000);
    const messageOf = async (name: string) => (await cluster.status(name)).conditions[0].message;
    await untilMet(cluster, async () => /executed/.test(await messageOf('alone')));
    await untilMet(cluster, async () => /executed/.test(await messageOf('web')));
    expect(await messageOf('alone')).to.match(/time:2026-07-15 07:07:00, next:none$/);
    expect(await messageOf('web')).to.match(/time:2026-07-15 07:07:00, next:2026-07-15 20:00:00$/);
  });

  it('runs the latest activation that an outage has missed, once, and reports the others', async () => {
    await using cluster = await startCronHpaCluster('2026-07-15T07:00:00+08:00');
    await cluster.deployment('web', 1);
    await cluster.cronHpa('web', [UP, DOWN]);
    await cluster.lead();
    await submitted(cluster, 'web');
    await cluster.stop();
    await cluster.clock.jump(26 * HOUR_MS); // until 09:00 of the next day: up, down and up were due
    await cluster.lead();
    await untilMet(cluster, async () => (await cluster.status('web')).lastResult === 'Succeed scale-up');
    expect(await cluster.replicas('web')).to.equal(9);
    const reported = cluster.events.map((event) => event.split(' ').slice(0, 6).join(' '));
    expect(reported).to.have.members([
      'web ScheduleMissed cron hpa job scale-up',
      'web ScheduleMissed cron hpa job scale-down',
      'web Scaled cron hpa job scale-up',
    ]);
    await scaleTo(cluster, 'web', 4);
    await cluster.stop();
    await cluster.lead(); // another leader: nothing is due
    await cluster.clock.advance(10 * HOUR_MS);
    expect(await cluster.replicas('web')).to.equal(4);
    await cluster.clock.advance(HOUR_MS); // 20:00
    await untilMet(cluster, async () => (await cluster.replicas('web')) === 3);
  });

  it('runs an activation due between the creation and the first reconciliation of an object', async () => {
    await using cluster = await startCronHpaCluster('2026-07-15T07:59:59+08:00');
    await cluster.deployment('web', 1);
    await cluster.cronHpa('web', [UP]);
    await cluster.clock.jump(3000);
    await cluster.lead();
    await untilMet(cluster, async () => (await cluster.status('web')).lastResult === 'Succeed scale-up');
    expect(await cluster.replicas('web')).to.equal(9);
  });

  it('runs an activation due between a change and the first reconciliation, and none from before', async () => {
    await using cluster = await startCronHpaCluster('2026-07-15T07:50:00+08:00');
    await cluster.deployment('web', 1);
    await cluster.cronHpa('web', [DOWN]);
    await cluster.lead();
    await submitted(cluster, 'web');
    await cluster.stop();
    const change = async (jobs: readonly object[]) => {
      await cluster.clock.jump(10 * 60_000);
      await cluster.api.patch(`${PATHS.cronHpas}/web`, 'merge', { spec: { jobs } });
      await cluster.clock.jump(2000);
      await cluster.lead();
    };
    await change([UP]); // at 08:00:00, when it would be due, and no longer is
    await untilMet(cluster, async () => (await cluster.status('web')).conditions[0].name === 'scale-up');
    expect(await cluster.replicas('web')).to.equal(1);
    await cluster.stop();
    await change([{ ...UP, schedule: '1 10 8 * * *' }]); // at 08:10:02, a second after it
    await untilMet(cluster, async () =>
      (await cluster.status('web')).conditions[0].schedule.startsWith('1 10'),
    );
    expect(await cluster.replicas('web')).to.equal(1);
    await cluster.stop();
    await change([{ ...UP, schedule: '5 20 8 * * *' }]); // at 08:20:04, and reconciled a second after it
    await untilMet(cluster, async () => (await cluster.replicas('web')) === 9);
  });

  it('does not run activations before the first reconciliation of an object older than an hour', async () => {
    await using cluster = await startCronHpaCluster('2026-07-15T07:59:00+08:00');
    await cluster.deployment('web', 1);
    await cluster.cronHpa('web', [UP]);
    await cluster.clock.jump(2 * HOUR_MS);
    await cluster.lead();
    await submitted(cluster, 'web');
    await cluster.clock.advance(60_000);
    expect(await cluster.replicas('web')).to.equal(1);
    expect((await cluster.status('web')).conditions[0]).to.deep.include({
      state: 'Submitted',
      submittedTime: '2026-07-15T01:59:00Z',
    });
  });

  it('runs an activation once while a new leader takes over', async () => {
    await using cluster = await startCronHpaCluster('2026-07-15T07:59:00+08:00');
    await cluster.deployment('web', 1);
    await cluster.cronHpa('web', [UP]);
    await cluster.lead();
    await submitted(cluster, 'web');
    await cluster.clock.advance(60_000);
    await untilMet(cluster, async () => (await cluster.status('web')).lastResult === 'Succeed scale-up');
    for (let restart = 0; restart < 3; restart++) {
      await cluster.stop();
      await cluster.lead();
      await cluster.clock.advance(5000);
    }
    expect(cluster.events.filter((event) => event.includes(' Scaled '))).to.have.length(1);
  });

  it('rejects two objects with one target, by condition and event, until one is deleted', async () => {
    await using cluster = await startCronHpaCluster('2026-07-15T07:59:00+08:00');
    await cluster.deployment('web', 1);
    await cluster.cronHpa('web', [UP]);
    const scaleTargetRef = { apiVersion: 'extensions/v1beta1', kind: 'Deployment', name: 'web' };
    await cluster.cronHpa('other', [UP], { spec: { scaleTargetRef } });
    await cluster.lead();
    await untilMet(cluster, async () => {
      const reasons = [await readyOf(cluster, 'web'), await readyOf(cluster, 'other')].map(
        ({ reason }) => reason,
      );
      return reasons.every((reason) => reason === 'TargetConflict');
    });
    expect((await readyOf(cluster, 'web')).message).to.contain('CronHorizontalPodAutoscaler "other"');
    await cluster.clock.advance(HOUR_MS);
    expect(await cluster.replicas('web')).to.equal(1);
    expect(cluster.events.map((event) => event.split(' ').slice(0, 2).join(' '))).to.have.members([
      'web TargetConflict',
      'other TargetConflict',
    ]);
    await cluster.api.delete(`${PATHS.cronHpas}/other`);
    await untilMet(cluster, async () => (await cluster.replicas('web')) === 9); // a missed activation runs late
    expect(await readyOf(cluster, 'web')).to.deep.include({ status: 'True', reason: 'Scheduled' });
  });

  it('sets minReplicas of an HPA with the same target, and restores maxReplicas', async () => {
    await using cluster = await startCronHpaCluster('2026-07-15T07:59:00+08:00');
    await cluster.deployment('web', 2);
    await createHpa(cluster, {});
    await cluster.cronHpa('web', [UP, DOWN]);
    await cluster.lead();
    await submitted(cluster, 'web');
    await cluster.clock.advance(60_000);
    await untilMet(cluster, async () => (await hpaOf(cluster)).spec.minReplicas === 9);
    expect((await hpaOf(cluster)).spec.maxReplicas).to.equal(9);
    expect((await hpaOf(cluster)).metadata.annotations[RAISED_MAX]).to.equal('5>9');
    await untilMet(cluster, async () => (await cluster.status('web')).scaleUpKeepWindow);
    expect(await cluster.replicas('web')).to.equal(2); // the HPA controller scales to the minimum
    await cluster.clock.advance(12 * HOUR_MS);
    await untilMet(cluster, async () => (await hpaOf(cluster)).spec.minReplicas === 3);
    expect((await hpaOf(cluster)).spec.maxReplicas).to.equal(5);
    expect((await hpaOf(cluster)).metadata.annotations?.[RAISED_MAX]).to.equal(undefined);
    await untilMet(cluster, async () => !(await cluster.status('web')).scaleUpKeepWindow);
  });

  it('does not change an HPA that a ScaledObject owns, and names the ScaledObject', async () => {
    await using cluster = await startCronHpaCluster('2026-07-15T07:59:00+08:00');
    await cluster.deployment('web', 2);
    const owner = await createScaledObject(cluster.api, 'web-scaler'); // an HPA without its owner is deleted, too
    await createHpa(cluster, { ownerReferences: [owner] });
    await cluster.cronHpa('web', [UP]);
    await cluster.lead();
    await untilMet(cluster, async () => (await readyOf(cluster, 'web')).reason === 'OwnedByScaledObject');
    await cluster.clock.advance(HOUR_MS);
    expect((await readyOf(cluster, 'web')).message).to.contain('ScaledObject "web-scaler"');
    expect((await hpaOf(cluster)).spec).to.deep.include({ minReplicas: 2, maxReplicas: 5 });
  });

  it('reports what is missing, retries, and runs the latest due activation', async () => {
    await using cluster = await startCronHpaCluster('2026-07-15T07:59:30+08:00');
    await cluster.cronHpa('web', [UP]);
    await cluster.lead();
    await submitted(cluster, 'web');
    await cluster.clock.advance(30_000);
    await untilMet(cluster, async () => (await readyOf(cluster, 'web')).reason === 'ScalingFailed');
    expect((await cluster.status('web')).conditions[0].message).to.equal(
      'cron hpa job scale-up failed to execute, because of Deployment "web" not found. ' +
        'time:2026-07-15 08:00:00, next:2026-07-16 08:00:00',
    );
    await cluster.clock.advance(120_000);
    expect(cluster.events).to.have.length(1);
    await cluster.deployment('web', 1);
    await cluster.clock.advance(60_000);
    await untilMet(cluster, async () => (await cluster.status('web')).lastResult === 'Succeed scale-up');
    expect(await cluster.replicas('web')).to.equal(9);
  });

  it('reports a failure once however often the job is due, and the next one after a success', async () => {
    await using cluster = await startCronHpaCluster('2026-07-15T08:00:01+08:00');
    await cluster.cronHpa('web', [{ name: 'often', schedule: '*/5 * * * * *', targetSize: 4 }]);
    await cluster.lead();
    await submitted(cluster, 'web');
    const reportsAt = async (second: number, reported: string) => {
      const time = `2026-07-15 08:00:${String(second).padStart(2, '0')}`;
      await cluster.clock.advance(Date.parse(`${time}+08:00`) + 1000 - cluster.clock.nowMs());
      const messageOf = async () => (await cluster.status('web')).conditions[0].message;
      await untilMet(cluster, async () => {
        const message = await messageOf();
        return message.includes(reported) && message.includes(`time:${time}`);
      });
    };
    for (const second of [5, 10, 15, 20]) await reportsAt(second, 'Deployment "web" not found');
    expect(cluster.events).to.have.length(1);
    expect(cluster.events[0]).to.match(/^web ScalingFailed cron hpa job often .* time:2026-07-15 08:00:05,/);
    expect((await readyOf(cluster, 'web')).message).to.equal('Scaling failed: Deployment "web" not found');

    await cluster.deployment('web', 1);
    await reportsAt(25, 'executed successfully');
    const [missed, scaled, ...others] = cluster.events.slice(1);
    // A reconciliation caused by its own status write may have run the activation of 20 s.
    expect(missed).to.match(/^web ScheduleMissed .* missed [34] activations from 2026-07-15 08:00:05 to /);
    const [, count] = /missed (\d)/.exec(missed ?? '') ?? [];
    expect(scaled).to.match(/^web Scaled /);
    expect(others).to.deep.equal([]);
    expect(await cluster.registry.metrics()).to.contain(`cronhpa_missed_activations_total ${count}\n`);

    await cluster.api.delete(`${PATHS.deployments}/web`);
    for (const second of [30, 35]) await reportsAt(second, 'Deployment "web" not found');
    expect(cluster.events.slice(3)).to.have.length(1);
    expect(cluster.events[3]).to.match(/^web ScalingFailed .* time:2026-07-15 08:00:30,/);
  });

  it('follows the wall clock when it is stepped, and runs nothing twice when it goes back', async () => {
    await using cluster = await startCronHpaCluster('2026-07-15T06:00:00+08:00');
    await cluster.deployment('web', 1);
    await cluster.cronHpa('web', [UP]);
    await cluster.lead();
    await submitted(cluster, 'web');
    cluster.clock.stepWall(2.5 * HOUR_MS);
    await cluster.clock.advance(5000);
    await untilMet(cluster, async () => (await cluster.status('web')).lastResult === 'Succeed scale-up');
    await scaleTo(cluster, 'web', 4);
    cluster.clock.stepWall(-45 * 60_000);
    await cluster.clock.advance(HOUR_MS);
    expect(await cluster.replicas('web')).to.equal(4);
    expect(cluster.events.filter((event) => event.includes(' Scaled '))).to.have.length(1);
  });

  it('runs a daily job when the clock skips its time', async () => {
    await using cluster = await startCronHpaCluster('2026-03-29T01:50:00+01:00');
    await cluster.deployment('web', 1);
    await cluster.cronHpa('web', [{ ...UP, schedule: '0 30 2 * * *', timeZone: 'Europe/Berlin' }]);
    await cluster.lead();
    await submitted(cluster, 'web');
    expect((await cluster.status('web')).nextScheduleTime).to.equal('2026-03-29T01:00:00Z'); // 03:00, where 02:00 would be
    await cluster.clock.advance(10 * 60_000);
    await untilMet(cluster, async () => (await cluster.replicas('web')) === 9);
    await untilMet(
      cluster,
      async () => (await cluster.status('web')).nextScheduleTime === '2026-03-30T00:30:00Z',
    );
  });

  it('counts activations', async () => {
    await using cluster = await startCronHpaCluster('2026-07-15T07:59:00+08:00');
    await cluster.deployment('web', 1);
    await cluster.cronHpa('web', [UP]);
    await cluster.lead();
    await submitted(cluster, 'web');
    await cluster.clock.advance(60_000);
    await untilMet(cluster, async () => (await cluster.status('web')).lastResult === 'Succeed scale-up');
    await untilMet(cluster, async () =>
      (await cluster.registry.metrics()).includes('cronhpa_objects{ready="true"} 1'),
    );
    const series = await cluster.registry.metrics();
    expect(series).to.contain('cronhpa_activations_total{result="Succeed"} 1');
    expect(series).to.contain('cronhpa_missed_activations_total 0');
    expect(series).to.contain('cronhpa_activation_delay_seconds_count 1');
  });
});

/** Runs pending I/O and advances the clock until the condition is true. */
async function untilMet(cluster: CronHpaCluster, condition: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (await condition()) return;
    await cluster.clock.advance(attempt % 10 === 9 ? 100 : 0);
  }
  throw new Error(`Condition never became true: ${condition}; ${JSON.stringify(cluster.logger.lines)}`);
}

async function submitted(cluster: CronHpaCluster, name: string): Promise<void> {
  await untilMet(cluster, async () => (await cluster.status(name)).conditions !== undefined);
}

async function readyOf(cluster: CronHpaCluster, name: string) {
  const { conditions = [] } = await cluster.status(name);
  return conditions.find(({ type }: { type?: string }) => type === 'Ready') ?? {};
}

async function scaleTo(cluster: CronHpaCluster, name: string, replicas: number): Promise<void> {
  await cluster.api.patch(`${PATHS.deployments}/${name}`, 'merge', { spec: { replicas } });
}

async function createHpa(cluster: CronHpaCluster, metadata: object): Promise<void> {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
  const { status } = await cluster.api.post(PATHS.hpas, {
    apiVersion: 'autoscaling/v1',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web', ...metadata },
    spec: { scaleTargetRef, minReplicas: 2, maxReplicas: 5 },
  });
  expect(status).to.equal(201);
}

async function hpaOf(cluster: CronHpaCluster) {
  return (await cluster.api.get(`${PATHS.hpas}/web`)).body;
}
