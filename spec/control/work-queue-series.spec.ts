import { expect } from 'chai';
import { Registry } from 'prom-client';
import { WorkQueue } from '#lib/control/work-queue.ts';
import { WorkQueueSeries } from '#lib/control/work-queue-series.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('WorkQueueSeries', () => {
  let clock: ManualClock;
  let registry: Registry;
  let queue: WorkQueue;

  beforeEach(() => {
    clock = new ManualClock();
    registry = new Registry();
    const series = new WorkQueueSeries({ clock, registry });
    queue = new WorkQueue({ clock, observer: series.observe('cronhpa') });
    series.observe('other');
  });

  /** The value of a series, as scraped. */
  async function served(name: string, queueName = 'cronhpa'): Promise<number> {
    const text = await registry.metrics();
    const line = text.split('\n').find((one) => one.startsWith(`${name}{name="${queueName}"}`));
    return Number(line?.split(' ').at(-1));
  }

  it('starts every queue at zero', async () => {
    for (const name of ['depth', 'adds_total', 'retries_total', 'unfinished_work_seconds']) {
      expect(await served(`workqueue_${name}`, 'other'), name).to.equal(0);
    }
  });

  it('counts adds once, depth, and durations in the queue and of processing', async () => {
    for (const key of ['a', 'b', 'a']) queue.add(key);
    expect(await served('workqueue_depth')).to.equal(2);
    expect(await served('workqueue_adds_total')).to.equal(2);
    await clock.advance(2000);
    await queue.take();
    queue.add('a');
    expect(await served('workqueue_depth')).to.equal(2);
    await clock.advance(3000);
    await queue.take();
    expect(await served('workqueue_queue_duration_seconds_sum')).to.equal(2 + 5);
    expect(await served('workqueue_unfinished_work_seconds')).to.equal(3);
    await clock.advance(1000);
    expect(await served('workqueue_unfinished_work_seconds')).to.equal(4 + 1);
    expect(await served('workqueue_longest_running_processor_seconds')).to.equal(4);
    queue.done('a');
    queue.done('b');
    expect(await served('workqueue_work_duration_seconds_sum')).to.equal(5);
    expect(await served('workqueue_work_duration_seconds_count')).to.equal(2);
    expect(await served('workqueue_unfinished_work_seconds')).to.equal(0);
    expect(await served('workqueue_longest_running_processor_seconds')).to.equal(0);
    await queue.shutDown();
    expect(await served('workqueue_depth')).to.equal(0);
  });

  it('counts retries after failures', async () => {
    queue.addRateLimited('a');
    expect(await served('workqueue_retries_total')).to.equal(1);
    expect(await served('workqueue_adds_total')).to.equal(0);
    await clock.advance(5);
    expect(await served('workqueue_adds_total')).to.equal(1);
    await queue.shutDown();
  });

  it('has the buckets of Kubernetes', async () => {
    const text = await registry.metrics();
    const bounds = text.matchAll(/workqueue_work_duration_seconds_bucket\{le="([^"]+)",name="other"\}/g);
    expect([...bounds].map(([, bound]) => bound)).to.deep.equal([
      '1e-8',
      '1e-7',
      '0.000001',
      '0.00001',
      '0.0001',
      '0.001',
      '0.01',
      '0.1',
      '1',
      '10',
      '100',
      '1000',
      '+Inf',
    ]);
  });
});
