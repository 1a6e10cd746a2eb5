import { expect } from 'chai';
import fc from 'fast-check';
import { WorkQueue } from '#lib/control/work-queue.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('WorkQueue', () => {
  let clock: ManualClock;
  let queue: WorkQueue;

  beforeEach(() => {
    clock = new ManualClock();
    queue = new WorkQueue({ clock });
  });

  afterEach(async () => {
    await queue.shutDown();
    expect(clock.sleeperCount).to.equal(0);
  });

  /** Takes all ready keys and marks each as done. */
  async function takeAll(): Promise<string[]> {
    const keys: string[] = [];
    while (queue.depth > 0) keys.push(await takeAndEnd());
    return keys;
  }

  async function takeAndEnd(): Promise<string> {
    const key = (await queue.take()) ?? expect.fail('the queue is shut down');
    queue.done(key);
    return key;
  }

  it('returns each key once, however often it was added, in the order of first adds', async () => {
    for (const key of ['b', 'a', 'b', 'c', 'a']) queue.add(key);
    expect(queue.depth).to.equal(3);
    expect(await takeAll()).to.deep.equal(['b', 'a', 'c']);
  });

  it('lets a worker wait for the next key', async () => {
    const taken = [queue.take(), queue.take()];
    queue.add('a');
    queue.add('b');
    expect(await Promise.all(taken)).to.deep.equal(['a', 'b']);
    for (const key of ['a', 'b']) queue.done(key);
  });

  it('gives no worker a key that is being processed, and queues it again if it was added meanwhile', async () => {
    queue.add('a');
    expect(await queue.take()).to.equal('a');
    queue.add('a');
    queue.add('a');
    let second: string | undefined;
    const waiting = queue.take().then((key) => {
      second = key;
    });
    await clock.advance(0);
    expect(second).to.equal(undefined);
    queue.done('a');
    await waiting;
    expect(second).to.equal('a');
    queue.done('a');
    expect(queue.depth).to.equal(0);
  });

  it('does not give a key again that was not added meanwhile', async () => {
    queue.add('a');
    await takeAndEnd();
    queue.done('a'); // one call too many
    expect(queue.depth).to.equal(0);
  });

  it('adds a key after a delay, the earliest of several', async () => {
    queue.addAfter('a', 1000);
    queue.addAfter('a', 500);
    queue.addAfter('a', 2000);
    queue.addAfter('b', 0);
    queue.addAfter('c', -1);
    expect(await takeAll()).to.deep.equal(['b', 'c']);
    await clock.advance(499);
    expect(queue.depth).to.equal(0);
    await clock.advance(1);
    expect(await takeAll()).to.deep.equal(['a']);
    await clock.advance(10_000);
    expect(queue.depth).to.equal(0);
  });

  it('doubles the delay of a failing key up to 1,000 s, until it is forgotten', async () => {
    const delays: number[] = [];
    for (let failure = 0; failure < 20; failure++) delays.push(await delayOfFailure('a'));
    expect(delays.slice(0, 5)).to.deep.equal([5, 10, 20, 40, 80]);
    expect(delays.slice(16)).to.deep.equal([327_680, 655_360, 1_000_000, 1_000_000]);
    expect(queue.failuresOf('a')).to.equal(20);
    queue.forget('a');
    expect(queue.failuresOf('a')).to.equal(0);
    expect(await delayOfFailure('a')).to.equal(5);
  });

  it('retries 100 failures of a namespace at once, then 10 a second, and those of others meanwhile', async () => {
    for (let index = 0; index < 120; index++) queue.addRateLimited(`many/${index}`);
    queue.addRateLimited('other/a');
    await clock.advance(5);
    expect(queue.depth).to.equal(101);
    await clock.advance(1000);
    expect(queue.depth).to.equal(111);
    await clock.advance(1000);
    expect(queue.depth).to.equal(121);
    expect((await takeAll()).slice(0, 2)).to.deep.equal(['many/0', 'other/a']);
  });

  it('processes the keys of namespaces round robin', async () => {
    for (const key of ['many/a', 'many/b', 'many/c', 'other/a', 'third/a', 'other/b']) queue.add(key);
    expect(await takeAll()).to.deep.equal(['many/a', 'other/a', 'third/a', 'many/b', 'other/b', 'many/c']);
  });

  it('has a namespace take no more workers than it leaves free to others', async () => {
    const shared = new WorkQueue({ clock, workers: 4 });
    const taken: string[] = [];
    const take = () => void shared.take().then((key) => key !== undefined && taken.push(key));
    for (const key of ['many/a', 'many/b', 'many/c']) shared.add(key);
    for (let worker = 0; worker < 4; worker++) take();
    await clock.advance(0);
    expect(taken).to.deep.equal(['many/a', 'many/b']);
    shared.add('other/a');
    await clock.advance(0);
    expect(taken.slice(2)).to.deep.equal(['other/a']);
    shared.done('other/a');
    await clock.advance(0);
    expect(taken.slice(3)).to.deep.equal([]);
    shared.leave('many/a'); // though it is not done
    await clock.advance(0);
    expect(taken.slice(3)).to.deep.equal(['many/c']);
    shared.add('many/a');
    take();
    await clock.advance(0);
    expect(taken.slice(4)).to.deep.equal([]);
    for (const key of ['many/b', 'many/a']) shared.done(key);
    await clock.advance(0);
    expect(taken.slice(4)).to.deep.equal(['many/a']);
    for (const key of ['many/a', 'many/c']) shared.done(key);
    await shared.shutDown();
  });

  it('returns no more keys once it is shut down, and resolves when the last key is done', async () => {
    queue.add('a');
    queue.add('b');
    queue.addAfter('c', 1000);
    expect(await queue.take()).to.equal('a');
    queue.add('a');
    let isDrained = false;
    const drained = queue.shutDown().then(() => {
      isDrained = true;
    });
    expect(clock.sleeperCount).to.equal(0);
    expect(await queue.take()).to.equal(undefined);
    queue.add('d');
    queue.addRateLimited('d');
    await clock.advance(10_000);
    expect(isDrained).to.equal(false);
    expect(queue.depth).to.equal(0);
    queue.done('a');
    await drained;
  });

  it('returns ready keys when it is shut down with keepReady', async () => {
    queue.add('a');
    queue.add('b');
    let isDrained = false;
    const drained = queue.shutDown({ retainReady: true }).then(() => {
      isDrained = true;
    });
    await clock.advance(0);
    expect(isDrained).to.equal(false);
    const keys: (string | undefined)[] = [];
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      keys.push(key);
      queue.done(key);
    }
    expect(keys).to.deep.equal(['a', 'b']);
    await drained;
  });

  it('resolves waiting workers when it is shut down', async () => {
    const waiting = [queue.take(), queue.take()];
    await queue.shutDown();
    expect(await Promise.all(waiting)).to.deep.equal([undefined, undefined]);
  });

  it('returns a key again that was added while it was processed, even during a shutdown with keepReady', async () => {
    queue.add('a');
    expect(await queue.take()).to.equal('a');
    queue.add('a');
    const waiting = queue.take();
    const drained = queue.shutDown({ retainReady: true });
    queue.done('a');
    expect(await waiting).to.equal('a');
    queue.done('a');
    await drained;
  });

  it('loses no key and processes none concurrently, whatever the workers do', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('add' as const), key: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ kind: fc.constant('after' as const), key: fc.constantFrom('a', 'b', 'c') }),
      fc.record({
        kind: fc.constantFrom('take' as const, 'done' as const, 'wait' as const),
        key: fc.constant(''),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const own = new ManualClock();
        const tried = new WorkQueue({ clock: own });
        const owed = new Set<string>();
        const retained: string[] = [];
        const take = async () => {
          if (tried.depth === 0) return;
          const key = (await tried.take()) ?? '';
          expect(retained).not.to.include(key);
          owed.delete(key);
          retained.push(key);
        };
        const end = () => {
          const key = retained.shift();
          if (key !== undefined) tried.done(key);
        };
        for (const { kind, key } of steps) {
          if (kind === 'add') tried.add(key);
          if (kind === 'after') tried.addAfter(key, 10);
          if (kind === 'add' || kind === 'after') owed.add(key);
          if (kind === 'take') await take();
          if (kind === 'done') end();
          if (kind === 'wait') await own.jump(10);
        }
        await own.jump(10);
        while (retained.length > 0) end();
        while (tried.depth > 0) {
          await take();
          end();
        }
        expect([...owed]).to.deep.equal([]);
        await tried.shutDown();
      }),
      { numRuns: 60 },
    );
  });

  it('returns many keys in the order of adds', async () => {
    const keys = Array.from({ length: 5000 }, (_, index) => `${index}`);
    for (const key of keys.slice(0, 3000)) queue.add(key);
    const taken: string[] = [];
    for (let index = 0; index < 2000; index++) taken.push(await takeAndEnd());
    for (const key of keys.slice(3000)) queue.add(key);
    expect([...taken, ...(await takeAll())]).to.deep.equal(keys);
  });

  /** Makes a key fail, and returns the delay until it is ready again. */
  async function delayOfFailure(key: string): Promise<number> {
    const startMs = clock.monotonicMs();
    const back = takeAndEnd().then(() => clock.monotonicMs() - startMs);
    queue.addRateLimited(key);
    await clock.advance(1_000_000);
    return await back;
  }
});
