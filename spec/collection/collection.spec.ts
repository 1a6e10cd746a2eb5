import { expect } from 'chai';
import fc from 'fast-check';
import { Collection, type Collector } from '#lib/collection/collection.ts';
import type { Query } from '#lib/sources/query.ts';
import { EmptyResponseError, type Sample } from '#lib/sources/sample.ts';

import { LineBudgets } from '#lib/telemetry/line-budget.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

describe('Collection', () => {
  it('runs a query immediately, and then at its interval', async () => {
    const { clock, collection, source } = setUp();
    collection.replace('default/web', collectors({ rate: source.collector('rate', 10_000) }));
    await clock.advance(0);
    expect(collection.reading('default/web', 'rate')?.samples).to.deep.equal([{ value: 1, labels: {} }]);
    await clock.advance(100_000);
    expect(intervals(source.requestedAtMs('rate'))).to.deep.equal([
      ...[5000, 5000], // random parts of the interval
      ...Array.from({ length: 9 }, () => 10_000),
    ]);
  });

  it('runs a query immediately on demand, and at its interval from then on', async () => {
    const { clock, collection, source } = setUp();
    collection.replace('a', collectors({ rate: source.collector('rate', 10_000) }));
    await clock.advance(7000);
    collection.pollNow('a', 'rate');
    await clock.advance(13_000);
    expect(source.requestedAtMs('rate')).to.deep.equal([0, 5000, 7000, 17_000]);
  });

  it('runs a query once more after the running one for all demands meanwhile', async () => {
    const { clock, collection, source } = setUp();
    source.takeMs('slow', 4000);
    collection.replace('a', collectors({ slow: source.collector('slow', 10_000) }));
    await clock.advance(1000);
    collection.pollNow('a', 'slow');
    collection.pollNow('a', 'slow');
    collection.replace('b', collectors({ slow: source.collector('slow', 9000) }));
    await clock.advance(30_000);
    expect(source.requestedAtMs('slow')).to.deep.equal([0, 4000, 8500, 13_000, 22_000, 31_000]);
  });

  it('runs a query at the shortest interval of its collectors as they are now', async () => {
    const { clock, collection, source } = setUp();
    const intervalAfter = async (owner: string, ...intervalsMs: readonly number[]) => {
      const own = intervalsMs.map((ms) => [`${ms}`, source.collector('rate', ms)] as const);
      collection.replace(owner, new Map(own));
      await clock.advance(120_000);
      const before = source.requestedAtMs('rate').length;
      await clock.advance(60_000);
      return 60_000 / (source.requestedAtMs('rate').length - before);
    };
    expect(await intervalAfter('a', 10_000)).to.equal(10_000);
    expect(await intervalAfter('b', 30_000, 2000)).to.equal(2000);
    expect(await intervalAfter('b', 30_000)).to.equal(10_000);
    expect(await intervalAfter('a')).to.equal(30_000);
    expect(await intervalAfter('b', 5000, 30_000)).to.equal(5000);
  });

  it('polls a query that 150,000 collectors share, which tenants may write', async () => {
    const { clock, collection, source } = setUp();
    const collector = source.collector('rate', 10_000);
    collection.replace('a', new Map(Array.from({ length: 150_000 }, (_, index) => [`m${index}`, collector])));
    await clock.advance(30_000);
    expect(source.requestedAtMs('rate')).to.have.length(5);
    collection.replace('a', new Map());
    expect(collection.queryCount).to.equal(0);
  });

  it('reports the query and statistics of each collector', async () => {
    const { clock, requested, collection, source } = setUp();
    const rate = source.collector('rate', 10_000);
    collection.replace('a', collectors({ rate }));
    expect(collection.query('a', 'rate')).to.equal(rate.query);
    expect(collection.record('a', 'rate')).to.equal(undefined);
    expect(collection.nextInMs('a', 'rate')).to.equal(0);
    expect(collection.pollCount('a', 'rate')).to.equal(0);
    await clock.advance(0);
    source.takeMs('rate', 250);
    await clock.advance(6000);
    const record = { durationMs: 250, latenessMs: 0, failedCount: 0, emptyCount: 0 };
    expect(collection.record('a', 'rate')).to.deep.equal(record);
    source.fail('rate', 'connection refused');
    await clock.advance(20_000);
    expect(collection.record('a', 'rate')).to.deep.equal({ ...record, durationMs: 0, failedCount: 5 });
    expect(requested.slice(0, 3)).to.deep.equal(['rate: 0', 'rate: 250', 'rate: 0, connection refused']);
  });

  it('returns nothing for an unknown owner or collector', () => {
    const { collection, source } = setUp();
    collection.replace('a', collectors({ rate: source.collector('rate', 10_000) }));
    for (const [owner, name] of [
      ['b', 'rate'],
      ['a', 'absent'],
    ] as const) {
      collection.pollNow(owner, name);
      expect(collection.reading(owner, name)).to.equal(undefined);
      expect(collection.failure(owner, name)).to.equal(undefined);
      expect(collection.record(owner, name)).to.equal(undefined);
      expect(collection.query(owner, name)).to.equal(undefined);
      expect(collection.nextInMs(owner, name)).to.equal(undefined);
      expect(collection.pollCount(owner, name)).to.equal(0);
    }
  });

  it('counts responses without a value, be that an error or not', async () => {
    const { clock, collection } = setUp();
    const counts = async (response: Behaviour) => {
      current = response;
      collection.pollNow('a', 'a');
      await clock.advance(0);
      const { emptyCount, failedCount } = collection.record('a', 'a') ?? {};
      return [emptyCount, failedCount];
    };
    let current = responding(1);
    const query = { key: 'a', description: 'what a is', run: (signal: AbortSignal) => current(signal) };
    collection.replace('a', collectors({ a: { query, intervalMs: 3_600_000 } }));
    expect(await counts(responding(0))).to.deep.equal([0, 0]);
    expect(await counts(async () => [{ value: 0, labels: {}, isPlaceholder: true }])).to.deep.equal([1, 0]);
    expect(await counts(() => Promise.reject(new EmptyResponseError('nothing')))).to.deep.equal([2, 1]);
    expect(await counts(() => Promise.reject(new Error('refused')))).to.deep.equal([2, 2]);
    expect(await counts(responding(0))).to.deep.equal([2, 2]);
  });

  it('does not delay a query for those of another namespace with the same source', async () => {
    const { clock, collection, source } = setUp();
    const slow = Array.from({ length: 40 }, (_, index) => `slow-${index}`);
    for (const name of slow) source.takeMs(name, 10_000);
    const own = (tenant: string, keys: readonly string[]) =>
      new Map(
        keys.map((key) => {
          const { query, intervalMs } = source.collector(key, 60_000);
          return [key, { query: { ...query, source: 'prometheus:9090' }, intervalMs, tenant }];
        }),
      );
    const begun = () => slow.filter((key) => source.requestedAtMs(key).length > 0).length;
    collection.replace('a/web', own('a', slow));
    await clock.advance(0);
    expect(begun()).to.equal(16);
    collection.replace('b/web', own('b', ['quick', 'slow-39']));
    await clock.advance(0);
    expect(collection.reading('b/web', 'quick')).not.to.equal(undefined);
    await clock.advance(5_000);
    expect(collection.failure('a/web', 'slow-35')?.error.message).to.equal(
      'Cannot query what slow-35 is within 5s: namespace a has the maximum number of concurrent polls of this source',
    );
    expect(collection.failure('a/web', 'slow-0')?.error.message).to.equal(
      'Cannot query what slow-0 is: no response within 5s',
    );
    await clock.advance(60_000);
    expect(begun()).to.be.above(30);
  });

  describe('of a source with at most two concurrent requests', () => {
    const want = (source: ScriptedSource, tenant: string | undefined, key: string, timeoutMs?: number) => {
      const { query, intervalMs } = source.collector(key, 60_000);
      const bounded = { ...query, source: 's', maxConcurrent: 2, ...(timeoutMs && { timeoutMs }) };
      return collectors({ [key]: { query: bounded, intervalMs, ...(tenant && { tenant }) } });
    };

    it('counts a query of two namespaces for neither of them', async () => {
      for (const tenant of ['a', 'b', 'ab']) {
        const { clock, collection, source } = setUp();
        source.takeMs('slow', 10_000);
        collection.replace('slow', want(source, tenant, 'slow'));
        await clock.advance(0);
        collection.replace('a/both', want(source, 'a', 'both'));
        collection.replace('b/both', want(source, 'b', 'both'));
        await clock.advance(0);
        expect(collection.reading('b/both', 'both'), tenant).not.to.equal(undefined);
      }
    });

    it('shares polls between the same two namespaces, whichever added the query first', async () => {
      const { clock, collection, source } = setUp();
      source.takeMs('slow', 4000);
      collection.replace('a/slow', want(source, 'a', 'slow'));
      collection.replace('b/slow', want(source, 'b', 'slow'));
      await clock.advance(0);
      collection.replace('b/other', want(source, 'b', 'other'));
      collection.replace('a/other', want(source, 'a', 'other'));
      await clock.advance(3999);
      expect(source.requestedAtMs('other')).to.deep.equal([]);
      await clock.advance(1);
      expect(source.requestedAtMs('other')).to.deep.equal([4000]);
    });

    it('never exceeds the concurrency of a namespace, even when a request has just ended', async () => {
      const { clock, collection, source } = setUp();
      for (const [key, durationMs] of Object.entries({ one: 1000, two: 3000, three: 1000 })) {
        source.takeMs(key, durationMs);
        collection.replace(key, want(source, 'a', key));
      }
      await clock.advance(1500); // one has ended, and two has begun
      collection.replace('late', want(source, 'a', 'late'));
      await clock.advance(4000);
      const begunAtMs = ['one', 'two', 'three', 'late'].map((key) => source.requestedAtMs(key)[0]);
      expect(begunAtMs).to.deep.equal([0, 1000, 4000, 5000]);
    });

    it('does not poll after waiting too long, and passes on the remaining timeout', async () => {
      const reported = async (pendingMs: number) => {
        const clock = new ManualClock();
        await clock.advance(100_000);
        const { collection, source } = setUp({ clock });
        source.takeMs('long', pendingMs);
        source.hang('next');
        collection.replace('long', want(source, 'a', 'long', 60_000));
        await clock.advance(0);
        collection.replace('next', want(source, 'a', 'next'));
        await clock.advance(10_000);
        return [collection.failure('next', 'next')?.error.message, ...source.requestedAtMs('next')];
      };
      const busy = 'namespace a has the maximum number of concurrent polls of this source';
      expect(await reported(4999)).to.deep.equal([
        'Cannot query what next is: no response within 5s',
        104_999,
      ]);
      expect(await reported(30_000)).to.deep.equal([`Cannot query what next is within 5s: ${busy}`]);
    });
  });

  it('does not limit queries without a source or namespace', async () => {
    const { clock, collection, source } = setUp();
    const all: string[] = [];
    for (const extra of [{ tenant: 'a' }, { source: 'prometheus:9090' }, {}]) {
      for (let index = 0; index < 40; index++) {
        const key = `${JSON.stringify(extra)} ${index}`;
        source.hang(key);
        const { query, intervalMs } = source.collector(key, 60_000);
        const collector = { query: { ...query, ...extra }, intervalMs, ...extra };
        collection.replace(key, collectors({ [key]: collector }));
        all.push(key);
      }
    }
    await clock.advance(0);
    expect(all.filter((key) => source.requestedAtMs(key).length === 0)).to.deep.equal([]);
  });

  it('retains ten notes of a source, of 500 characters each', async () => {
    const { clock, collection } = setUp();
    const emit = async (_: AbortSignal, note?: (text: string) => void) => {
      for (let index = 0; index < 12; index++) note?.(`${index}`.repeat(400));
      return [{ value: 1, labels: {} }];
    };
    const query = { key: 'told', description: 'what is told', run: emit };
    collection.replace('a', collectors({ told: { query, intervalMs: 10_000 } }));
    await clock.advance(0);
    expect(collection.reading('a', 'told')?.notes).to.deep.equal(
      Array.from({ length: 10 }, (_, index) => `${index}`.repeat(400)),
    );
    const long = async (_: AbortSignal, note?: (text: string) => void) => {
      note?.('a'.repeat(501));
      return [];
    };
    collection.replace(
      'a',
      collectors({ long: { query: { ...query, key: 'long', run: long }, intervalMs: 10_000 } }),
    );
    await clock.advance(0);
    expect(collection.reading('a', 'long')?.notes).to.deep.equal(['a'.repeat(500)]);
  });

  describe('with queries that begin together', () => {
    const many = Array.from({ length: 8 }, (_, index) => `query-${index}`);

    /** Draws each eighth once in even rounds, and alternates between two halves in odd rounds. */
    function begin() {
      let draw = 0;
      const random = () => {
        const [place, round] = [draw % 8, Math.floor(draw++ / 8)];
        return round % 2 === 0 ? place / 8 : (1 - (place % 2)) / 2;
      };
      const { clock, collection, source } = setUp({ random });
      const expected = many.map((name) => [name, source.collector(name, 8000)]);
      collection.replace('a', collectors(Object.fromEntries(expected)));
      const since = (atMs: number) =>
        many.map((name) => source.requestedAtMs(name).filter((one) => one > atMs));
      const phasesSince = (atMs: number) => new Set(since(atMs).map(([first = 0]) => first % 8000));
      return { clock, since, phasesSince };
    }

    it('spreads them over their interval, which none of them exceeds', async () => {
      const { clock, since, phasesSince } = begin();
      await clock.advance(40_000);
      const waits = since(-1).flatMap(intervals);
      expect([Math.min(...waits), Math.max(...waits)]).to.deep.equal([4000, 8000]);
      const phases = [...phasesSince(30_000)].sort((a, b) => a - b);
      expect(phases).to.deep.equal([500, 1500, 2500, 3500, 4000, 5000, 6000, 7000]);
      expect(new Set(since(16_000).flatMap(intervals))).to.deep.equal(new Set([8000]));
    });

    it('remains spread after the process was stalled while several polls were due', async () => {
      const { clock, since, phasesSince } = begin();
      await clock.advance(40_000);
      const before = phasesSince(30_000);
      await clock.jump(4000);
      expect(since(43_999).filter(([atMs]) => atMs === 44_000)).to.have.length(5);
      await clock.advance(20_000);
      expect(phasesSince(50_000)).to.deep.equal(before);
    });

    it('spreads them again when it stood still for longer than the interval', async () => {
      const { clock, since, phasesSince } = begin();
      await clock.advance(40_000);
      await clock.jump(60_000);
      expect(since(40_000)).to.deep.equal(many.map(() => [100_000]));
      await clock.advance(40_000);
      expect(phasesSince(130_000).size).to.equal(8);
    });
  });

  describe('of equal queries', () => {
    it('runs it once per shortest interval', async () => {
      const { clock, collection, source } = setUp();
      collection.replace('a', collectors({ one: source.collector('same', 30_000) }));
      await clock.advance(1000);
      collection.replace('b', collectors({ other: source.collector('same', 5000) }));
      expect(collection.queryCount).to.equal(1);
      await clock.advance(60_000);
      expect(intervals(source.requestedAtMs('same'))).to.deep.equal([
        ...[6000, 2500],
        ...Array.from({ length: 10 }, () => 5000),
      ]);
      expect(collection.reading('a', 'one')).to.equal(collection.reading('b', 'other'));
    });

    it('returns to the longer interval, and ends with the last user', async () => {
      const { clock, collection, source } = setUp();
      collection.replace('a', collectors({ one: source.collector('same', 30_000) }));
      collection.replace('b', collectors({ other: source.collector('same', 5000) }));
      await clock.advance(20_000);
      collection.replace('b', new Map());
      const before = source.requestedAtMs('same').length;
      await clock.advance(65_000);
      expect(intervals(source.requestedAtMs('same').slice(before))).to.deep.equal([30_000, 30_000]);
      collection.replace('a', new Map());
      expect(collection.queryCount).to.equal(0);
      expect(clock.sleeperCount).to.equal(0);
    });
  });

  describe('when collectors are replaced', () => {
    it('continues with unchanged queries', async () => {
      const { clock, collection, source } = setUp();
      const retained = source.collector('kept', 60_000);
      collection.replace('a', collectors({ kept: retained, gone: source.collector('gone', 60_000) }));
      await clock.advance(1000);
      collection.replace(
        'a',
        collectors({ kept: { ...retained }, fresh: source.collector('fresh', 60_000) }),
      );
      await clock.advance(1000);
      expect(source.requestedAtMs('kept')).to.have.length(1);
      expect(source.requestedAtMs('fresh')).to.have.length(1);
      expect(collection.reading('a', 'kept')).to.not.equal(undefined);
      expect(collection.reading('a', 'gone')).to.equal(undefined);
      expect(collection.queryCount).to.equal(2);
    });

    it('applies the current validity of the collector', async () => {
      const { clock, collection, source } = setUp();
      const rate = source.collector('rate', 60_000);
      collection.replace('a', collectors({ rate: { ...rate, validForMs: 5000 } }));
      await clock.advance(10_000);
      const isValid = () => [...collection.reports()].map((report) => report.isValid);
      expect([collection.reading('a', 'rate'), isValid()]).to.deep.equal([undefined, [false]]);
      collection.replace('a', collectors({ rate: { ...rate, validForMs: 15_000 } }));
      expect(collection.reading('a', 'rate')?.samples).to.deep.equal([{ value: 1, labels: {} }]);
      expect(isValid()).to.deep.equal([true]);
      expect(source.requestedAtMs('rate')).to.deep.equal([0]);
    });

    it('calls only the current listener', async () => {
      const { clock, collection, source } = setUp();
      const received: string[] = [];
      const retained = source.collector('rate', 10_000);
      const receivedBy = (name: string) => ({ ...retained, onPolled: () => void received.push(name) });
      collection.replace('a', collectors({ rate: receivedBy('first') }));
      await clock.advance(0);
      collection.replace('a', collectors({ rate: receivedBy('second') }));
      await clock.advance(5000);
      collection.replace('a', collectors({ rate: retained }));
      await clock.advance(10_000);
      expect(received).to.deep.equal(['first', 'second']);
      expect(collection.queryCount).to.equal(1);
    });

    it('calls a listener once for each query, however many collectors have it', async () => {
      const { clock, collection, source } = setUp();
      let calls = 0;
      const shared = { ...source.collector('rate', 10_000), onPolled: () => void calls++ };
      const named = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`rate-${index}`, shared]));
      collection.replace('a', collectors(named));
      await clock.advance(0);
      expect(calls).to.equal(1);
      collection.replace('a', collectors({ rate: shared }));
      collection.pollNow('a', 'rate');
      await clock.advance(0);
      expect(calls, 'one collector of 100 left').to.equal(2);
    });

    it('aborts the running query without counting a failure', async () => {
      const { clock, collection, source, logger, requested } = setUp();
      source.hang('slow');
      collection.replace('a', collectors({ slow: source.collector('slow', 10_000) }));
      await clock.advance(100);
      collection.replace('a', new Map());
      await clock.advance(0);
      expect(source.abortedCount('slow')).to.equal(1);
      expect([logger.lines, requested, clock.sleeperCount]).to.deep.equal([[], [], 0]);
    });
  });

  describe('of a source that fails', () => {
    it('has a value for three intervals, and then none', async () => {
      const { clock, collection, source } = setUp();
      collection.replace('a', collectors({ rate: source.collector('rate', 10_000) }));
      await clock.advance(4000);
      source.fail('rate', 'connection refused');
      await clock.advance(25_999);
      expect(collection.reading('a', 'rate')).to.not.equal(undefined);
      await clock.advance(1);
      expect(collection.reading('a', 'rate')).to.equal(undefined);
      expect([...collection.reports()])
        .to.have.nested.property('0.reading.samples')
        .of.length(1);
    });

    it('applies the validity of its collector', async () => {
      const { clock, collection, source } = setUp();
      const collector = { ...source.collector('rate', 10_000), validForMs: 15_000 };
      collection.replace('a', collectors({ rate: collector }));
      await clock.advance(0);
      source.fail('rate', 'connection refused');
      await clock.advance(14_999);
      expect(collection.reading('a', 'rate')).to.not.equal(undefined);
      await clock.advance(1);
      expect(collection.reading('a', 'rate')).to.equal(undefined);
    });

    it('polls after 1 s, doubled up to a minute', async () => {
      const { clock, collection, source } = setUp({ random: () => 0 });
      source.fail('rate', 'connection refused');
      collection.replace('a', collectors({ rate: source.collector('rate', 15_000) }));
      await clock.advance(240_000);
      const waits = [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000];
      expect(intervals(source.requestedAtMs('rate'))).to.deep.equal(waits);
      const { failure } = [...collection.reports()][0] ?? {};
      expect(failure).to.deep.include({ count: 9, sinceMs: Date.UTC(2026, 0, 1) });
    });

    it('polls after four short intervals at most', async () => {
      const { clock, collection, source } = setUp({ random: () => 0 });
      source.fail('rate', 'connection refused');
      collection.replace('a', collectors({ rate: source.collector('rate', 3000) }));
      await clock.advance(45_000);
      const waits = [1000, 2000, 4000, 8000, 12_000, 12_000];
      expect(intervals(source.requestedAtMs('rate'))).to.deep.equal(waits);
    });

    it('has the first value of a long interval seconds after the source responds', async () => {
      const { clock, collection, source } = setUp({ random: () => 0 });
      source.fail('rate', 'connection refused');
      collection.replace('a', collectors({ rate: source.collector('rate', 1_800_000) }));
      await clock.advance(5000);
      source.succeed('rate', 1);
      await clock.advance(1999);
      expect(collection.reading('a', 'rate')).to.equal(undefined);
      await clock.advance(1);
      expect(collection.reading('a', 'rate')?.samples).to.have.lengthOf(1);
    });

    it('polls at the interval for a collector that counts failures', async () => {
      const { clock, collection, source } = setUp();
      source.fail('rate', 'connection refused');
      const collector = source.collector('rate', 10_000);
      collection.replace('a', collectors({ rate: collector }));
      await clock.advance(29_000);
      collection.replace('a', collectors({ rate: { ...collector, isSteady: true } }));
      await clock.advance(31_000);
      expect(intervals(source.requestedAtMs('rate'))).to.deep.equal([
        ...[1000, 2000, 4000, 8000, 16_000, 10_000, 10_000],
      ]);
    });

    it('polls at the interval if one of several collectors counts failures', async () => {
      const { clock, collection, source } = setUp();
      source.fail('rate', 'connection refused');
      const collector = source.collector('rate', 10_000);
      collection.replace('a', collectors({ rate: collector }));
      collection.replace('b', collectors({ rate: { ...collector, isSteady: true } }));
      await clock.advance(40_000);
      expect(intervals(source.requestedAtMs('rate'))).to.deep.equal([10_000, 10_000, 10_000, 10_000]);
    });

    it('draws out each wait by up to a fifth, so that not all come back at once', async () => {
      const { clock, collection, source } = setUp({ random: () => 0.5 });
      source.fail('rate', 'connection refused');
      collection.replace('a', collectors({ rate: source.collector('rate', 10_000) }));
      await clock.advance(33_000);
      expect(intervals(source.requestedAtMs('rate'))).to.deep.equal([1100, 2200, 4400, 8800]);
    });

    it('spreads queries that recover together over their interval', async () => {
      let draw = 0;
      const { clock, collection, source } = setUp({ random: () => (draw++ % 10) / 10 });
      const many = Array.from({ length: 10 }, (_, index) => `query-${index}`);
      for (const name of many) source.fail(name, 'connection refused');
      const expected = many.map((name) => [name, source.collector(name, 10_000)]);
      collection.replace('a', collectors(Object.fromEntries(expected)));
      await clock.advance(1000);
      for (const name of many) source.succeed(name, 1);
      await clock.advance(50_000);
      const phasesMs = many.map((name) => (source.requestedAtMs(name).at(-1) ?? 0) % 10_000);
      expect(new Set(phasesMs.map((ms) => Math.floor(ms / 1000))).size).to.be.at.least(5);
      expect(intervals(source.requestedAtMs('query-3')).slice(3)).to.deep.equal([10_000, 10_000, 10_000]);
    });

    it('does not poll sooner for an additional collector', async () => {
      const { clock, collection, source } = setUp();
      source.fail('same', 'connection refused');
      collection.replace('a', collectors({ one: source.collector('same', 50_000) }));
      await clock.advance(8000);
      collection.replace('b', collectors({ other: source.collector('same', 2000) }));
      await clock.advance(6999);
      expect(source.requestedAtMs('same')).to.have.length(4);
      await clock.advance(1);
      expect(source.requestedAtMs('same')).to.have.length(5);
    });

    it('polls after a long interval at most', async () => {
      const { clock, collection, source } = setUp({ random: () => 0 });
      source.fail('rate', 'connection refused');
      collection.replace('a', collectors({ rate: source.collector('rate', 300_000) }));
      await clock.advance(1_200_000);
      const waits = intervals(source.requestedAtMs('rate'));
      expect(waits.slice(0, 4)).to.deep.equal([1000, 2000, 4000, 8000]);
      expect(waits.slice(-3)).to.deep.equal([256_000, 300_000, 300_000]);
    });

    it('logs that once, and once that it responds again', async () => {
      const { clock, collection, source, logger } = setUp();
      source.fail('rate', 'connection refused');
      collection.replace('a', collectors({ rate: source.collector('rate', 10_000) }));
      await clock.advance(60_000);
      source.succeed('rate', 7);
      await clock.advance(60_000);
      expect(
        logger.lines.map(({ level, message, fields }) => [level, message, fields.query, fields.err]),
      ).to.deep.equal([
        ['error', 'Cannot query source; retrying', 'what rate is', 'connection refused'],
        ['info', 'Queries of source succeed again', 'what rate is', undefined],
      ]);
      expect(collection.reading('a', 'rate')?.samples[0]?.value).to.equal(7);
    });

    it('logs no more than it may of one namespace in an hour, and then how much it left out', async () => {
      const { clock, collection, source, logger } = setUp({ linesPerHour: 3 });
      const own = (tenant: string) => ({ ...source.collector(`of ${tenant}`, 60_000), tenant });
      collection.replace('a/web', collectors({ rate: own('a') }));
      collection.replace('b/web', collectors({ rate: own('b') }));
      for (let turn = 0; turn < 10; turn++) {
        source.fail('of a', 'connection refused');
        await clock.advance(60_000);
        source.succeed('of a', 1);
        await clock.advance(120_000);
      }
      const reported = () => logger.lines.map(({ message, fields }) => [message, fields.changesNotLogged]);
      const [failing, recovered] = ['Cannot query source; retrying', 'Queries of source succeed again'];
      expect(reported()).to.deep.equal([
        [failing, undefined],
        [recovered, undefined],
        [failing, undefined],
      ]);
      source.fail('of b', 'connection refused');
      await clock.advance(60_000);
      expect(reported().slice(3)).to.deep.equal([[failing, undefined]]);
      await clock.advance(3_600_000);
      expect(reported().slice(4)).to.deep.include.members([[recovered, 17]]);
    });

    it('logs each change of what belongs to no namespace, and of all where nothing bounds the log', async () => {
      const clock = new ManualClock();
      const bounded = setUp({ clock, linesPerHour: 3 });
      const { logger, collection: unbounded } = setUp({ clock, linesPerHour: undefined });
      const { source } = bounded;
      bounded.collection.replace('a', collectors({ rate: source.collector('rate', 60_000) }));
      unbounded.replace('a', collectors({ rate: { ...source.collector('rate', 60_000), tenant: 'a' } }));
      for (let turn = 0; turn < 5; turn++) {
        source.fail('rate', 'connection refused');
        await clock.advance(60_000);
        source.succeed('rate', 1);
        await clock.advance(120_000);
      }
      expect([bounded.logger.lines.length, logger.lines.length]).to.deep.equal([10, 10]);
    });

    it('times out a query, even if it ignores its signal, without delaying others', async () => {
      const { clock, collection, source } = setUp();
      source.hang('deaf', { isDeaf: true });
      collection.replace(
        'a',
        collectors({ deaf: source.collector('deaf', 10_000), well: source.collector('well', 10_000) }),
      );
      await clock.advance(5001);
      expect(collection.failure('a', 'deaf')?.error.message).to.equal(
        'Cannot query what deaf is: no response within 5s',
      );
      expect(collection.reading('a', 'well')).to.not.equal(undefined);
      await clock.advance(20_000);
      expect(source.requestedAtMs('deaf').length).to.be.above(1);
    });
  });

  it('has one request of a query under way at a time', async () => {
    const { clock, collection, source } = setUp();
    source.takeMs('slow', 4000);
    collection.replace('a', collectors({ slow: source.collector('slow', 1000) }));
    await clock.advance(20_000);
    collection.replace('b', collectors({ slow: source.collector('slow', 500) }));
    await clock.advance(4000);
    expect(intervals(source.requestedAtMs('slow'))).to.deep.equal(Array.from({ length: 6 }, () => 4000));
  });

  it('reports when the next query is due, and the duration of each', async () => {
    const { clock, collection, source, requested } = setUp();
    source.takeMs('slow', 4000);
    collection.replace('a', collectors({ slow: source.collector('slow', 20_000) }));
    const nextInMs = () => [...collection.reports()].map((report) => report.nextInMs);
    await clock.advance(1000);
    expect(nextInMs()).to.deep.equal([0]);
    await clock.advance(6000);
    expect(nextInMs()).to.deep.equal([3000]);
    await clock.advance(7000);
    expect(requested).to.deep.equal(['slow: 4000', 'slow: 4000']);
    await clock.advance(60_000);
    expect(nextInMs()).to.deep.equal([6000]);
  });

  it('is warm when each query was sent once, or after 30 s', async () => {
    const clock = new ManualClock();
    await clock.advance(100_000);
    const { collection, source } = setUp({ clock });
    expect(collection.isWarm).to.equal(true);
    source.fail('failing', 'no');
    source.hang('hanging', { isDeaf: true });
    collection.replace('a', collectors({ failing: source.collector('failing', 60_000) }));
    await clock.advance(0);
    expect(collection.isWarm).to.equal(true);
    collection.replace('b', collectors({ hanging: source.collector('hanging', 60_000) }));
    await clock.advance(4999);
    expect(collection.isWarm).to.equal(false);
    await clock.advance(2);
    expect(collection.isWarm).to.equal(true);
    await clock.advance(25_000);
    collection.replace('c', collectors({ late: source.collector('late', 60_000) }));
    expect(collection.isWarm).to.equal(true);
  });

  it('stops all timers when it is disposed of', async () => {
    const { clock, collection, source } = setUp();
    source.hang('hanging');
    collection.replace(
      'a',
      collectors({ hanging: source.collector('hanging', 1000), well: source.collector('well', 1000) }),
    );
    await clock.advance(2500);
    await collection[Symbol.asyncDispose]();
    await clock.advance(0);
    expect([clock.sleeperCount, collection.queryCount]).to.deep.equal([0, 0]);
  });

  it('polls exactly the collectors of its owners after any replacements', async () => {
    const plan = fc.dictionary(
      fc.constantFrom('x', 'y'),
      fc.record({ query: fc.constantFrom('p', 'q', 'r'), s: fc.integer({ min: 1, max: 5 }) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), plan), { maxLength: 12 }),
        async (steps) => {
          const { clock, collection, source } = setUp();
          const expected = new Map<string, (typeof steps)[number][1]>();
          for (const [owner, plans] of steps) {
            expected.set(owner, plans);
            const own = Object.entries(plans).map(([name, { query, s }]) => [
              name,
              source.collector(query, s * 1000),
            ]);
            collection.replace(owner, collectors(Object.fromEntries(own)));
            await clock.advance(700);
          }
          await clock.advance(10_000);
          const min = new Map<string, number>();
          for (const plans of expected.values()) {
            for (const { query, s } of Object.values(plans)) min.set(query, Math.min(s, min.get(query) ?? s));
          }
          expect(collection.queryCount).to.equal(min.size);
          const before = ['p', 'q', 'r'].map((query) => source.requestedAtMs(query).length);
          await clock.advance(60_000);
          const counts = ['p', 'q', 'r'].map(
            (query, index) => source.requestedAtMs(query).length - (before[index] ?? 0),
          );
          expect(counts).to.deep.equal(
            ['p', 'q', 'r'].map((query) => 60 / (min.get(query) ?? Number.POSITIVE_INFINITY)),
          );
          await collection[Symbol.asyncDispose]();
          expect(clock.sleeperCount).to.equal(0);
        },
      ),
      { numRuns: 30 },
    );
  });
});

function setUp(options: Partial<SetUp> = {}) {
  const { clock = new ManualClock(), random = () => 0 } = options;
  const logger = new RecordingLogger();
  const requested: string[] = [];
  const onPolled = ({ key }: Query, durationMs: number, error?: Error) =>
    void requested.push(`${key}: ${durationMs}${error ? `, ${error.message}` : ''}`);
  const linesPerHour = 'linesPerHour' in options ? options.linesPerHour : 1_000;
  const collection = new Collection({
    ...{ clock, logger, random, timeoutMs: 5000, onPolled },
    ...(linesPerHour !== undefined && { tenantLineBudgets: new LineBudgets(clock, linesPerHour) }),
  });
  return { clock, logger, requested, collection, source: new ScriptedSource(clock) };
}

function collectors(byName: Readonly<Record<string, Collector>>): ReadonlyMap<string, Collector> {
  return new Map(Object.entries(byName));
}

function intervals(timesMs: readonly number[]): number[] {
  return timesMs.slice(1).map((atMs, index) => atMs - (timesMs[index] ?? 0));
}

interface SetUp {
  readonly clock: ManualClock;
  readonly random: () => number;
  /** Per namespace; `undefined` is unlimited. */
  readonly linesPerHour: number | undefined;
}

type Behaviour = (signal: AbortSignal) => Promise<readonly Sample[]>;

/** A source with scripted results by query; it records the time of each query. */
class ScriptedSource {
  readonly #clock: ManualClock;
  readonly #behaviours = new Map<string, Behaviour>();
  readonly #requests = new Map<string, number[]>();
  readonly #aborted = new Map<string, number>();

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  collector(key: string, intervalMs: number): Collector {
    const run = (signal: AbortSignal) => {
      this.#requests.set(key, [...this.requestedAtMs(key), this.#clock.monotonicMs()]);
      signal.addEventListener('abort', () => this.#aborted.set(key, this.abortedCount(key) + 1));
      return (this.#behaviours.get(key) ?? responding(1))(signal);
    };
    return { query: { key, description: `what ${key} is`, run }, intervalMs };
  }

  requestedAtMs(key: string): readonly number[] {
    return this.#requests.get(key) ?? [];
  }

  abortedCount(key: string): number {
    return this.#aborted.get(key) ?? 0;
  }

  succeed(key: string, value: number): void {
    this.#behaviours.set(key, responding(value));
  }

  fail(key: string, message: string): void {
    this.#behaviours.set(key, () => Promise.reject(new Error(message)));
  }

  takeMs(key: string, durationMs: number): void {
    this.#behaviours.set(key, async (signal) => {
      await this.#clock.sleep(durationMs, { signal });
      return [{ value: 1, labels: {} }];
    });
  }

  /** @param isDeaf whether it ignores an abort */
  hang(key: string, { isDeaf = false }: { readonly isDeaf?: boolean } = {}): void {
    this.#behaviours.set(key, (signal) => {
      return new Promise((_, reject) => {
        if (!isDeaf) signal.addEventListener('abort', () => reject(signal.reason));
      });
    });
  }
}

function responding(value: number): Behaviour {
  return () => Promise.resolve([{ value, labels: {} }]);
}
