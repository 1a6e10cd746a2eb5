import { expect } from 'chai';
import { SharedReads } from '#lib/hpa/inputs/shared-reads.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const READ_TIMEOUT_MS = 10_000;

const OPTIONS = { maxAgeMs: 1000, signal: new AbortController().signal };

describe('SharedReads', () => {
  it('reads once for all callers within a time, and again afterwards', async () => {
    const clock = new ManualClock();
    const reads = new SharedReads<number>({ clock });
    let count = 0;
    const request = (key: string) => reads.get(key, OPTIONS, async () => ++count);
    expect(await Promise.all([request('a'), request('a'), request('b')])).to.deep.equal([1, 1, 2]);
    await clock.advance(999);
    expect(await request('a')).to.equal(1);
    await clock.advance(1);
    expect(await request('a')).to.equal(3);
  });

  it('awaits a read in progress whenever it started', async () => {
    const clock = new ManualClock();
    const reads = new SharedReads<string>({ clock });
    const slow = Promise.withResolvers<string>();
    const first = reads.get('a', OPTIONS, () => slow.promise);
    await clock.advance(5000);
    const second = reads.get('a', OPTIONS, async () => 'again');
    slow.resolve('once');
    expect(await Promise.all([first, second])).to.deep.equal(['once', 'once']);
  });

  it('caches no failure, and continues when the first caller has left', async () => {
    const reads = new SharedReads<string>({ clock: new ManualClock() });
    const failing = reads.get('a', OPTIONS, () => Promise.reject(new Error('refused')));
    expect(await failing.catch(String)).to.equal('Error: refused');
    expect(await reads.get('a', OPTIONS, async () => 'well')).to.equal('well');
    const leaving = new AbortController();
    const slow = Promise.withResolvers<string>();
    const first = reads.get('b', { ...OPTIONS, signal: leaving.signal }, () => slow.promise).catch(String);
    const second = reads.get('b', OPTIONS, async () => 'again');
    leaving.abort(new Error('gone'));
    slow.resolve('late');
    expect([await first, await second]).to.deep.equal(['Error: gone', 'late']);
  });

  it('bounds concurrent reads, and runs others in order', async () => {
    const reads = new SharedReads<number>({ clock: new ManualClock() });
    let [running, max] = [0, 0];
    const read = async () => {
      max = Math.max(max, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      return running--;
    };
    await Promise.all(Array.from({ length: 100 }, (_, index) => reads.get(`${index}`, OPTIONS, read)));
    expect(max).to.equal(32);
  });

  it('fails waiting reads once the API stalls, and starts again', async () => {
    const clock = new ManualClock();
    const reads = new SharedReads<string>({ clock });
    const hang = async () => {
      await clock.sleep(READ_TIMEOUT_MS);
      throw new Error('no response');
    };
    const requested = Array.from({ length: 40 }, (_, index) =>
      reads.get(`${index}`, OPTIONS, hang).catch(String),
    );
    await clock.advance(READ_TIMEOUT_MS);
    const failures = await Promise.all(requested);
    expect(failures.slice(0, 32).every((one) => one === 'Error: no response')).to.equal(true);
    expect(new Set(failures.slice(32))).to.deep.equal(
      new Set(['Error: the metrics API has not responded for 10s']),
    );
    expect(await reads.get('0', OPTIONS, async () => 'well')).to.equal('well');
  });

  it('lets reads wait while the API responds to others', async () => {
    const clock = new ManualClock();
    const reads = new SharedReads<string>({ clock });
    const slow = (key: string, durationMs: number) =>
      reads.get(key, OPTIONS, async () => {
        await clock.sleep(durationMs);
        if (durationMs >= READ_TIMEOUT_MS) throw new Error('no response');
        return key;
      });
    const hanging = Array.from({ length: 31 }, (_, index) => slow(`${index}`, READ_TIMEOUT_MS).catch(String));
    const others = ['a', 'b', 'c'].map((key) => slow(key, 6000));
    await clock.advance(30_000);
    expect(await Promise.all(others)).to.deep.equal(['a', 'b', 'c']);
    expect(new Set(await Promise.all(hanging))).to.deep.equal(new Set(['Error: no response']));
  });

  it('evicts values beyond the maximum age of all callers', async () => {
    const clock = new ManualClock();
    const reads = new SharedReads<string>({ clock, weigh: (value) => value.length });
    const request = (key: string, maxAgeMs: number) =>
      reads.get(key, { ...OPTIONS, maxAgeMs }, async () => key);
    await request('list-a', 1000);
    await request('list-b', 1000);
    expect(reads.weight).to.equal(12);
    await request('list-b', 5000); // later callers may accept older values
    await clock.advance(1000);
    await request('list-c', 1000);
    expect(reads.weight).to.equal(12);
    await clock.advance(5000);
    await request('d', 1000);
    expect(reads.weight).to.equal(1);
  });

  it('evicts the least recently read values beyond its limit', async () => {
    const reads = new SharedReads<string>({
      ...{ clock: new ManualClock(), maxWeight: 10 },
      weigh: (value) => value.length,
    });
    let requested: string[] = [];
    const request = (key: string, value: string) =>
      reads.get(key, OPTIONS, async () => {
        requested.push(key);
        return value;
      });
    await request('a', 'aaaa');
    await request('b', 'bbbb');
    await request('c', 'cccc');
    requested = [];
    for (const key of ['b', 'c', 'a']) await request(key, key);
    expect(requested).to.deep.equal(['a']);
  });
});
