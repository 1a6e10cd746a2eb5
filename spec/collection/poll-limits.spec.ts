import { expect } from 'chai';
import { Collection, type Collector } from '#lib/collection/collection.ts';
import { PollLimits } from '#lib/collection/poll-limits.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

const TIMEOUT_MS = 15_000;
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;
const OVERLOAD = 'namespace hung exceeds its share of polls';

describe('PollLimits', () => {
  it('begins polls of a namespace at the rate of the process, and those of another in between', async () => {
    const { clock, begunAtMs, poll } = setUp();
    poll('greedy', { count: 2000, intervalMs: 60_000 });
    await clock.advance(0);
    expect(begunAtMs('greedy')).to.have.lengthOf(50);
    await clock.advance(1000);
    expect(begunAtMs('greedy')).to.have.lengthOf(1050);
    poll('modest', { count: 3, intervalMs: 60_000 });
    await clock.advance(6);
    expect(begunAtMs('modest')).to.deep.equal([1002, 1004, 1006]);
    expect(begunAtMs('greedy')).to.have.lengthOf(1053);
  });

  it('leaves half of all concurrent polls to other namespaces, for any sources', async () => {
    const { clock, begunAtMs, poll } = setUp();
    poll('slow', { count: 600, intervalMs: 1000, takesMs: 10_000 });
    await clock.advance(5000);
    expect(begunAtMs('slow')).to.have.lengthOf(512);
    poll('quick', { count: 1, intervalMs: 1000, takesMs: 10 });
    await clock.advance(20_000);
    expect(begunAtMs('quick')).to.have.lengthOf(21);
    const lateMs = begunAtMs('quick').map((atMs, index) => atMs - (5000 + index * 1000));
    expect(Math.max(...lateMs)).to.be.at.most(1); // the wait for a permit of the rate, while polls of the other begin, too
  });

  it('lengthens the interval of a namespace that has more due than may begin, and fails none of its polls', async () => {
    const { clock, begunAtMs, poll, errors } = setUp();
    poll('greedy', { count: 1024, intervalMs: 1000, takesMs: 1000 });
    await clock.advance(10_000);
    const perQuery = Array.from({ length: 1024 }, (_, index) => begunAtMs('greedy', index).length);
    expect([Math.min(...perQuery), Math.max(...perQuery)]).to.deep.equal([5, 6]); // 512 concurrent polls, of a second each
    expect(errors()).to.deep.equal([]);
  });

  it('gives a poll its whole timeout after it has waited', async () => {
    const { clock, begunAtMs, poll, errors } = setUp();
    poll('slow', { count: 1025, intervalMs: 60_000, takesMs: TIMEOUT_MS - 1 });
    await clock.advance(3 * TIMEOUT_MS);
    expect(begunAtMs('slow', 1024)).to.deep.equal([2 * (TIMEOUT_MS - 1)]);
    expect(errors()).to.deep.equal([]);
  });

  it('reports a poll that may not begin for a minute, with its cause', async () => {
    const { clock, poll, errors } = setUp();
    poll('hung', { count: 2050, intervalMs: 600_000, takesMs: Number.POSITIVE_INFINITY });
    await clock.advance(60_000 + TIMEOUT_MS);
    expect(new Set(errors())).to.deep.equal(
      new Set([
        ...Array.from(
          { length: 4 * 512 },
          (_, index) => `Cannot query hung ${index}: no response within 15s`,
        ),
        ...[2048, 2049].map((index) => `Cannot query hung ${index} within 1m0s: ${OVERLOAD}`),
      ]),
    );
  });

  it('reports a poll of a source that does not respond as soon as its response would be late', async () => {
    const { clock, poll, errors } = setUp();
    poll('hung', {
      count: 3,
      intervalMs: 600_000,
      takesMs: Number.POSITIVE_INFINITY,
      source: { maxConcurrent: 2 },
    });
    await clock.advance(TIMEOUT_MS);
    expect(errors()).to.deep.equal([
      'Cannot query hung 0: no response within 15s',
      'Cannot query hung 2 within 15s: namespace hung has the maximum number of concurrent polls of this source',
    ]);
  });

  it('delays none of 1,000 triggers of one namespace at the interval of an HPA, once their intervals are spread', async () => {
    let draws = 0;
    const random = () => (draws++ * GOLDEN_RATIO) % 1;
    const { clock, collection, poll } = setUp({ random });
    poll('large', { count: 1000, intervalMs: 15_000, takesMs: 1000 });
    const lateMs = () =>
      Array.from({ length: 1000 }, (_, index) => collection.record('large', `large ${index}`)?.latenessMs);
    await clock.advance(4000);
    expect(Math.max(...lateMs().map(Number))).to.be.within(1000, 2000); // all are due at the same time, and half as many run concurrently
    await clock.advance(60_000);
    expect(new Set(lateMs())).to.deep.equal(new Set([0]));
  });
});

interface PolledQueries {
  readonly count: number;
  readonly intervalMs: number;
  readonly takesMs?: number;
  /** By default, each has its own. */
  readonly source?: { readonly maxConcurrent: number };
}

function setUp({ random = () => 1 - Number.EPSILON } = {}) {
  const clock = new ManualClock();
  const begun = new Map<string, number[]>();
  const errors: string[] = [];
  const collection = new Collection({
    ...{ clock, logger: new RecordingLogger(), random, timeoutMs: TIMEOUT_MS },
    limits: new PollLimits(clock),
    onPolled: (_, __, error) => void (error && errors.push(error.message)),
  });
  const poll = (tenant: string, { count, intervalMs, takesMs = 0, source }: PolledQueries) => {
    const collectors = Array.from({ length: count }, (_, index): [string, Collector] => {
      const key = `${tenant} ${index}`;
      const atMs: number[] = [];
      begun.set(key, atMs);
      const query = {
        ...{ key, description: key, source: source ? tenant : key, ...source },
        async run(signal: AbortSignal) {
          atMs.push(clock.monotonicMs());
          if (takesMs > 0 && takesMs < Number.POSITIVE_INFINITY) await clock.sleep(takesMs, { signal });
          if (takesMs === Number.POSITIVE_INFINITY) await new Promise(() => {});
          return [];
        },
      };
      return [key, { query, intervalMs, tenant, isSteady: true }];
    });
    collection.replace(tenant, new Map(collectors));
  };
  return {
    ...{ clock, collection, poll },
    errors: () => errors,
    begunAtMs: (tenant: string, index?: number) =>
      index === undefined
        ? [...begun].flatMap(([key, atMs]) => (key.startsWith(`${tenant} `) ? atMs : []))
        : (begun.get(`${tenant} ${index}`) ?? []),
  };
}
