import { expect } from 'chai';
import { type ApiFault, delayWatches } from '#simulator/api-server/faults.ts';
import { type CronHpaCluster, PATHS, startCronHpaCluster } from '#spec/support/cron-hpa-cluster.ts';
import { eventually } from '#spec/support/eventually.ts';

const UP = { name: 'up', schedule: '0 0/2 * * * *', targetSize: 9 };
const DOWN = { name: 'down', schedule: '0 1/2 * * * *', targetSize: 3 };

const CONFLICT = 409;

/** Shorter and longer than the time between activations. */
for (const lagMs of [100, 12_000, 95_000])
  describe(`cronHpaController with an informer ${lagMs / 1000} s behind`, () => {
    let cluster: CronHpaCluster;
    let writes: Writes;

    beforeEach(async () => {
      cluster = await startCronHpaCluster('2026-07-15T07:59:00+08:00');
      writes = new Writes();
      await cluster.deployment('web', 1);
      await cluster.cronHpa('web', [UP, DOWN]);
      cluster.setFaults(writes, delayWatches(lagMs));
      await cluster.lead();
      await untilMet(async () => (await cluster.status('web')).nextScheduleTime !== undefined);
    });
    afterEach(() => cluster[Symbol.asyncDispose]());

    /**
     * Advances by a minute, at whose start a job is due. The object is changed just before, which the
     * informer observes after the job has run: its version is then from before the run.
     */
    async function minute(size: number, atTenSeconds: () => Promise<void> = async () => {}): Promise<void> {
      await scaleTo(5);
      const before = writes.scales;
      await cluster.clock.advance(toNextMinuteMs() - 50);
      const labels = { size: String(size) };
      await cluster.api.patch(`${PATHS.cronHpas}/web`, 'merge', { metadata: { labels } });
      await cluster.clock.advance(50);
      await untilMet(async () => (await cluster.replicas('web')) === size);
      await untilMet(async () => (await cluster.status('web')).lastScheduleTime === atThisMinute());
      await cluster.clock.advance(10_000);
      await atTenSeconds();
      await scaleTo(5); // makes a duplicate run visible
      for (let second = 10; second < 55; second += 5) {
        await cluster.clock.advance(5000);
        await pause();
      }
      expect(await cluster.replicas('web')).to.equal(5);
      expect(writes.scales).to.equal(before + 1);
      expect(writes.refused.filter((code) => code !== CONFLICT)).to.deep.equal([]);
    }

    it('runs each activation once', async () => {
      for (const size of [9, 3, 9, 3, 9]) await minute(size);
      expect(cluster.events.map((event) => event.split(' ', 2).join(' '))).to.deep.equal(
        Array(5).fill('web Scaled'),
      );
    });

    it('runs each activation once while leaders change', async () => {
      for (const size of [9, 3, 9, 3]) {
        await minute(size, async () => {
          await cluster.stop();
          await cluster.lead();
        });
      }
    });

    it('adopts changes of the object and its target when it observes them', async () => {
      await minute(9, async () => {
        const jobs = [UP, { ...DOWN, targetSize: 4 }];
        await cluster.api.patch(`${PATHS.cronHpas}/web`, 'merge', { spec: { jobs } });
      });
      if (lagMs < 50_000) await minute(4);
      else await minuteOfLateNews();
      for (const size of [9, 4]) await minute(size);
    });

    /** The job runs as in the informer's version, and again with the changed spec once the informer has it. */
    async function minuteOfLateNews(): Promise<void> {
      await cluster.clock.advance(toNextMinuteMs());
      await untilMet(async () => (await cluster.replicas('web')) === 3);
      await untilMet(async () => (await cluster.status('web')).lastScheduleTime === atThisMinute());
      for (let second = 0; second < 55; second += 5) {
        await cluster.clock.advance(5000);
        await pause();
      }
      await untilMet(async () => (await cluster.replicas('web')) === 4);
    }

    function toNextMinuteMs(): number {
      return 60_000 - (cluster.clock.nowMs() % 60_000);
    }

    function atThisMinute(): string {
      const nowMs = cluster.clock.nowMs();
      return new Date(nowMs - (nowMs % 60_000)).toISOString().replace('.000Z', 'Z');
    }

    async function scaleTo(replicas: number): Promise<void> {
      await cluster.api.patch(`${PATHS.deployments}/web`, 'merge', { spec: { replicas } });
    }

    /** Runs pending I/O and retries until the condition is true. */
    async function untilMet(condition: () => Promise<boolean>): Promise<void> {
      let attempts = 0;
      await eventually(async () => {
        await cluster.clock.advance(++attempts % 10 === 0 ? 10 : 0);
        return await condition();
      });
    }

    /** One round trip lets the requests of the controller complete, too. */
    async function pause(): Promise<void> {
      for (let request = 0; request < 3; request++) await cluster.replicas('web');
    }
  });

/** The writes of the controller, and rejected ones. */
class Writes implements ApiFault {
  scales = 0;
  readonly refused: number[] = [];

  serve: ApiFault['serve'] = async ({ method, target, raw, response }, { next }) => {
    if (method !== 'GET' && raw.headers['user-agent'] === 'spec/1') {
      response.once('finish', () => {
        if (response.statusCode >= 400) this.refused.push(response.statusCode);
        else if (target.isResource && target.subresource === 'scale') this.scales++;
      });
    }
    await next();
  };
}
