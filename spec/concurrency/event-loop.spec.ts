import { expect } from 'chai';
import { EventLoopShare, type Steps, TimeSlices } from '#lib/concurrency/event-loop.ts';
import { currentTenant, runForTenant } from '#lib/concurrency/tenant.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const OBJECTS_PER_SLICE = 500;

describe('TimeSlices', () => {
  describe('isSliceSpent', () => {
    it('returns true after many objects, counted one by one or together, until the next slice', async () => {
      const slices = new TimeSlices();
      const ones = Array.from({ length: OBJECTS_PER_SLICE + 1 }, () => slices.isSliceSpent());
      expect(ones.indexOf(true)).to.equal(OBJECTS_PER_SLICE - 1);
      expect(ones.at(-1)).to.equal(true);
      await slices.yieldToEventLoop();
      expect(slices.isSliceSpent(OBJECTS_PER_SLICE - 1)).to.equal(false);
      expect(slices.isSliceSpent()).to.equal(true);
    });

    it('counts the objects of all callers of the same server only', () => {
      const [one, other] = [new TimeSlices(), new TimeSlices()];
      expect(one.isSliceSpent(OBJECTS_PER_SLICE)).to.equal(true);
      expect(other.isSliceSpent()).to.equal(false);
    });
  });

  describe('yieldToEventLoop', () => {
    it('continues one caller per turn of the event loop', async () => {
      const slices = new TimeSlices();
      const observed: string[] = [];
      const yielding = ['a', 'b'].map((name) => slices.yieldToEventLoop().then(() => observed.push(name)));
      const others = [1, 2].map((_each, index) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        const later = () => {
          observed.push('other');
          resolve();
        };
        setImmediate(index === 0 ? later : () => setImmediate(later));
        return promise;
      });
      await Promise.all([...yielding, ...others]);
      expect(observed).to.deep.equal(['a', 'other', 'b', 'other']);
    });

    it('fails when the signal has aborted by then', async () => {
      const leaving = new AbortController();
      const outcome = new TimeSlices().yieldToEventLoop(leaving.signal).catch((error: unknown) => error);
      const reason = new Error('gone');
      leaving.abort(reason);
      expect(await outcome).to.equal(reason);
    });
  });

  describe('runExclusively', () => {
    it('starts work after the previous work has settled, unless its signal has aborted', async () => {
      const slices = new TimeSlices();
      const observed: string[] = [];
      const work = (name: string, error?: Error) => async () => {
        observed.push(`${name} begins`);
        await slices.yieldToEventLoop();
        observed.push(`${name} ends`);
        if (error) throw error;
        return name;
      };
      const broken = new Error('broken');
      const reason = new Error('gone');
      const results = await Promise.allSettled([
        slices.runExclusively(work('a')),
        slices.runExclusively(work('b', broken)),
        slices.runExclusively(work('c'), AbortSignal.abort(reason)),
        slices.runExclusively(work('d')),
      ]);
      expect(observed).to.deep.equal(['a begins', 'a ends', 'b begins', 'b ends', 'd begins', 'd ends']);
      expect(results).to.deep.equal([
        { status: 'fulfilled', value: 'a' },
        { status: 'rejected', reason: broken },
        { status: 'rejected', reason },
        { status: 'fulfilled', value: 'd' },
      ]);
    });
  });
});

const { signal } = new AbortController();

describe('EventLoopShare', () => {
  it('lets one go on at a time, each in an iteration of the event loop of its own', async () => {
    const share = new EventLoopShare(new ManualClock());
    const iterations = Array.from({ length: 3 }, async () => {
      await share.next(signal);
      return performance.nodeTiming.uvMetricsInfo.loopCount;
    });
    expect(new Set(await Promise.all(iterations))).to.have.property('size', 3);
  });

  it('leaves the event loop to others for as long as one has used it', async () => {
    const clock = new TakenTime();
    const share = new EventLoopShare(clock);
    const done: string[] = [];
    const long = share.next(signal).then(() => {
      done.push('long');
      clock.takenMs = 80; // simulates a slow read
    });
    const next = share.next(signal).then(() => done.push('next'));
    await long;
    for (let iteration = 0; iteration < 10; iteration++) await new Promise(setImmediate);
    expect(done).to.deep.equal(['long']);
    await clock.advance(79);
    for (let iteration = 0; iteration < 10; iteration++) await new Promise(setImmediate);
    expect(done).to.deep.equal(['long']);
    await clock.advance(1);
    await next;
    expect(done).to.deep.equal(['long', 'next']);
  });

  it('fails at once when the signal aborts, though the event loop is left to others for longer', async () => {
    const clock = new TakenTime();
    const share = new EventLoopShare(clock);
    await share.next(signal);
    clock.takenMs = 80; // simulates a slow step
    for (let iteration = 0; iteration < 10; iteration++) await new Promise(setImmediate);
    const leaving = new AbortController();
    const left = share.next(leaving.signal).catch((error: Error) => error.message);
    leaving.abort(new Error('the program ends'));
    expect(await left).to.equal('the program ends');
  });

  it('takes tenants in turn, however many pieces one waits for', async () => {
    const share = new EventLoopShare(new ManualClock());
    const order: string[] = [];
    const piece = (tenant: string) =>
      runForTenant(tenant, () => share.next(signal)).then(() => void order.push(tenant));
    await Promise.all([
      ...Array.from({ length: 4 }, () => piece('greedy')),
      piece('modest'),
      piece('modest'),
    ]);
    expect(order.join(' ')).to.equal('greedy greedy modest greedy modest greedy');
  });

  it('runs short scheduled pieces in one time slice, and pauses for as long as a long one took', async () => {
    const clock = new TakenTime();
    const share = new EventLoopShare(clock);
    const done: (readonly [string, number])[] = [];
    const piece = (name: string, takesMs = 0) =>
      share.schedule('tenant', () => {
        clock.takenMs += takesMs;
        done.push([name, performance.nodeTiming.uvMetricsInfo.loopCount]);
      });
    for (const [name, takesMs] of [
      ['a', 1],
      ['b', 1],
      ['long', 80],
      ['c', 0],
    ] as const)
      piece(name, takesMs);
    for (let iteration = 0; iteration < 10; iteration++) await new Promise(setImmediate);
    expect(done.map(([name]) => name)).to.deep.equal(['a', 'b', 'long']);
    expect(new Set(done.map(([, loop]) => loop))).to.have.property('size', 1);
    await clock.advance(82);
    for (let iteration = 0; iteration < 10; iteration++) await new Promise(setImmediate);
    expect(done.map(([name]) => name)).to.deep.equal(['a', 'b', 'long', 'c']);
  });

  it('runs scheduled pieces for their tenants, in turn', async () => {
    const share = new EventLoopShare(new ManualClock());
    const order: (string | undefined)[] = [];
    const piece = (tenant: string | undefined) => share.schedule(tenant, () => order.push(currentTenant()));
    for (const tenant of ['greedy', 'greedy', 'greedy', 'modest', undefined]) piece(tenant);
    for (let iteration = 0; iteration < 10; iteration++) await new Promise(setImmediate);
    expect(order).to.deep.equal(['greedy', 'greedy', 'modest', undefined, 'greedy']);
  });

  it('runs the steps of tenants in turn, each as long as a time slice permits', async () => {
    const clock = new TakenTime();
    const share = new EventLoopShare(clock);
    const order: string[] = [];
    function* work(name: string, count: number): Steps<string> {
      for (let step = 0; step < count; step++) {
        clock.takenMs += 3; // more than a time slice
        order.push(name);
        yield;
      }
      return name;
    }
    const results = Promise.all([
      share.runSteps(work('a', 3), { tenant: 'greedy', signal }),
      share.runSteps(work('b', 3), { tenant: 'greedy', signal }),
      share.runSteps(work('c', 2), { tenant: 'modest', signal }),
    ]);
    for (let pause = 0; pause < 12; pause++) await clock.advance(3);
    expect(await results).to.deep.equal(['a', 'b', 'c']);
    expect(order).to.deep.equal(['a', 'b', 'c', 'a', 'c', 'b', 'a', 'b']);
  });

  it('runs short steps in one iteration of the event loop, those of several callers together', async () => {
    const share = new EventLoopShare(new ManualClock());
    const iterations = new Set<number>();
    function* work(): Steps<void> {
      for (let step = 0; step < 1000; step++) {
        iterations.add(performance.nodeTiming.uvMetricsInfo.loopCount);
        yield;
      }
    }
    const tenants = ['a', 'b', 'c'];
    await Promise.all(tenants.map((tenant) => share.runSteps(work(), { tenant, signal })));
    expect(iterations).to.have.property('size', 1);
  });

  it('does not count time that passes after the steps', async () => {
    const clock = new TakenTime();
    const share = new EventLoopShare(clock);
    function* work(): Steps<void> {
      yield;
    }
    await share.runSteps(work(), { tenant: '', signal });
    clock.takenMs = 80; // the time of the following work
    await share.runSteps(work(), { tenant: '', signal });
  });

  it('ends steps that fail or whose signal aborts, and continues with others', async () => {
    const clock = new TakenTime();
    const share = new EventLoopShare(clock);
    const leaving = new AbortController();
    let stepCount = 0;
    function* endless(): Steps<void> {
      for (;;) {
        clock.takenMs += 3;
        stepCount++;
        yield;
      }
    }
    function* failing(): Steps<void> {
      yield;
      throw new Error('broken');
    }
    const left = share
      .runSteps(endless(), { tenant: 'a', signal: leaving.signal })
      .catch((error: Error) => error.message);
    const failed = share.runSteps(failing(), { tenant: 'b', signal }).catch((error: Error) => error.message);
    for (let pause = 0; pause < 4; pause++) await clock.advance(3);
    expect(await failed).to.equal('broken');
    leaving.abort(new Error('the program ends'));
    expect(await left).to.equal('the program ends');
    const countBefore = stepCount;
    for (let pause = 0; pause < 4; pause++) await clock.advance(3);
    expect(stepCount).to.equal(countBefore);
    await share.next(signal);
  });

  it('rejects an aborted caller with its reason, and continues', async () => {
    const share = new EventLoopShare(new ManualClock());
    const leaving = new AbortController();
    const left = share.next(leaving.signal).catch((error: Error) => error.message);
    const next = share.next(signal);
    leaving.abort(new Error('nobody waits'));
    expect(await left).to.equal('nobody waits');
    await next;
  });
});

/** A clock whose monotonic time also advances while code blocks the event loop. */
class TakenTime extends ManualClock {
  takenMs = 0;

  override monotonicMs(): number {
    return super.monotonicMs() + this.takenMs;
  }
}
