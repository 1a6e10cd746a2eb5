import { expect } from 'chai';
import type { LiveNode } from '#lib/resource-metrics/nodes/node-cache.ts';
import { EndpointChoice } from '#lib/resource-metrics/scrape/endpoint-choice.ts';
import { type ScrapeOutcome, Scraper, SecondScrapes } from '#lib/resource-metrics/scrape/scraper.ts';
import { SnapshotPublisher } from '#lib/resource-metrics/scrape/snapshot-publisher.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

/** A kubelet that responds after a delay, or never. */
type Kubelet = {
  readonly afterMs: number;
  readonly text?: string;
  readonly fails?: string;
  /** Delay of its handshake permit. */
  readonly waitsMs?: number;
};

const node = (name: string): LiveNode => ({
  name,
  labels: {},
  addresses: [],
  kubeletPort: undefined,
  resourceMetricsPath: undefined,
});

function setup(
  kubelets: Record<string, Kubelet>,
  {
    random = () => 0,
    onScraped,
  }: { readonly random?: () => number; readonly onScraped?: (outcome: ScrapeOutcome) => void } = {},
) {
  const clock = new ManualClock();
  const outcomes: ScrapeOutcome[] = [];
  const received: string[] = [];
  const published: { readonly atMs: number; readonly nodes: readonly string[] }[] = [];
  const requests: { readonly host: string; readonly path: string; readonly atMs: number }[] = [];
  const retained: string[][] = [];
  const publish = () => published.push({ atMs: clock.monotonicMs(), nodes: received.splice(0) });
  const stop = new AbortController();
  const scraper = new Scraper({
    clock,
    stopped: stop.signal,
    random,
    secondScrapeAfterMs: 12_000,
    endpoints: new EndpointChoice('auto', clock),
    receive: ({ nodeName }) => received.push(nodeName),
    publisher: (maxWaitMs) => new SnapshotPublisher({ clock, maxWaitMs, publish }),
    onScraped: onScraped ?? ((outcome) => outcomes.push(outcome)),
    chooseTarget: ({ name }) =>
      name === 'no-address'
        ? { nodeName: name, reason: 'no address' }
        : { nodeName: name, host: name, port: 10250 },
    client: {
      get: async ({ host }, path, { signal, read, pause }) => {
        const kubelet = kubelets[host] ?? { afterMs: 0 };
        if (kubelet.waitsMs !== undefined) {
          using _paused = pause?.();
          await clock.sleep(kubelet.waitsMs, { signal });
        }
        const requestedAtMs = clock.monotonicMs();
        requests.push({ host, path, atMs: requestedAtMs });
        await clock.sleep(kubelet.afterMs, { signal });
        if (kubelet.fails !== undefined) throw new Error(kubelet.fails);
        const [respondedAtMs, receivedAtMs] = [clock.monotonicMs(), clock.monotonicMs()];
        const times = { requestedAtMs, respondedAtMs, receivedAtMs };
        return read(Buffer.from(kubelet.text ?? '{"pods":[]}'), times);
      },
      retain: async (addresses) => {
        retained.push([...addresses]);
      },
    },
  });
  const cycle = new AbortController();
  const scrape = (endsAtMs = Number.POSITIVE_INFINITY, signal = cycle.signal) =>
    scraper.scrape({ endsAtMs, nodes: Object.keys(kubelets).map(node), signal });
  return { stop, requests, published, clock, cycle, done: scrape(), outcomes, retained, scrape };
}

const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, { afterMs: 0 }]));

describe('Scraper', () => {
  it('scrapes CPU and memory of each node', async () => {
    const { requests, done, clock, retained } = setup({ a: { afterMs: 0 }, b: { afterMs: 0 } });
    await clock.advance(100);
    await done;
    expect(requests.map(({ host, path }) => `${host}${path}`)).to.have.members([
      'a/stats/summary?only_cpu_and_memory=true',
      'b/stats/summary?only_cpu_and_memory=true',
    ]);
    expect(retained).to.deep.equal([['a:10250', 'b:10250']]);
  });

  it('spreads the starts over 8 ms per node', async () => {
    let next = 0;
    const { requests, done, clock } = setup(many(50), { random: () => next++ / 50 });
    await clock.advance(400);
    await done;
    expect(requests.map(({ atMs }) => Math.round(atMs))).to.deep.equal(
      Array.from({ length: 50 }, (_, n) => n * 8),
    );
  });

  it('starts no further scrapes after the end of its cycle', async () => {
    const starts = [0, 0.9];
    const { requests, clock, cycle, done, outcomes } = setup(
      { early: { afterMs: 0 }, late: { afterMs: 0 } },
      { random: () => starts.shift() ?? 0 },
    );
    await clock.advance(1);
    cycle.abort(new Error('no response before the next cycle was due'));
    await done;
    expect(requests.map(({ host }) => host)).to.deep.equal(['early']);
    expect(outcomes.map(({ nodeName, endpoint }) => [nodeName, endpoint])).to.deep.equal([
      ['early', '/stats/summary?only_cpu_and_memory=true'],
      ['late', undefined],
    ]);
    expect(outcomes[1]?.error?.message).to.match(/no response before the next cycle was due$/);
  });

  it('scrapes a node at the same point of each cycle', async () => {
    const { requests, done, clock, scrape } = setup(many(1000), { random: Math.random });
    await clock.advance(12_000);
    await done;
    for (let cycle = 1; cycle < 4; cycle++) {
      const again = scrape();
      await clock.advance(12_000);
      await again;
    }
    const timesMs = Map.groupBy(requests, ({ host }) => host).values();
    for (const times of timesMs) {
      const gapsMs = times.slice(1).map(({ atMs }, index) => Math.round(atMs - (times[index]?.atMs ?? 0)));
      expect(gapsMs[0]).to.equal(12_000);
      expect(gapsMs[1]).to.be.within(12_000, 13_500); // the next cycles have more jitter
      expect(gapsMs[2]).to.be.within(12_000, 13_500);
    }
  });

  it('spreads the starts over at most 1 s in the first two cycles, then 2.5 s and 4 s', async () => {
    const { requests, done, clock, scrape } = setup(many(1000), { random: () => 0.999 });
    await clock.advance(12_000);
    await done;
    for (let cycle = 1; cycle < 4; cycle++) {
      const again = scrape();
      await clock.advance(12_000);
      await again;
    }
    const delaysMs = [0, 1, 2, 3].map((cycle) => (requests[1000 * cycle]?.atMs ?? 0) - 12_000 * cycle);
    expect(delaysMs.map((delayMs) => Math.round(delayMs))).to.deep.equal([999, 999, 2498, 3996]);
  });

  it('spreads the starts over 40% of a shorter cycle, and scrapes again in its first half', async () => {
    const { requests, done, clock, scrape } = setup(many(1000), { random: () => 0.999 });
    await clock.advance(12_000);
    await done;
    for (let cycle = 0; cycle < 3; cycle++) {
      const again = scrape(clock.monotonicMs() + 5000);
      await clock.advance(5000);
      await again;
    }
    const delaysMs = [0, 1, 2].map(
      (cycle) => (requests[1000 * (cycle + 1)]?.atMs ?? 0) - 12_000 - 5000 * cycle,
    );
    expect(delaysMs.map((delayMs) => Math.round(delayMs))).to.deep.equal([999, 1998, 1998]);
  });

  it('publishes at once when all nodes have responded', async () => {
    const { published, clock, done } = setup({ a: { afterMs: 10 }, b: { afterMs: 500 } });
    await clock.advance(500);
    await done;
    expect(published).to.deep.equal([{ atMs: 500, nodes: ['a', 'b'] }]);
  });

  it('publishes without waiting for a slow kubelet', async () => {
    const { published, clock, done } = setup({ a: { afterMs: 10 }, slow: { afterMs: 9000 } });
    await clock.advance(2000);
    expect(published).to.deep.equal([{ atMs: 516, nodes: ['a'] }]);
    await clock.advance(7000);
    await done;
    expect(published[1]).to.deep.equal({ atMs: 9000, nodes: ['slow'] });
  });

  it('waits for slow kubelets for 0.5 s in the first two cycles, then 1 s', async () => {
    const { published, clock, done, scrape } = setup({ a: { afterMs: 0 }, slow: { afterMs: 9000 } });
    const first = () => published.splice(0)[0]?.atMs;
    await clock.advance(12_000);
    await done;
    const firstAtMs = [first()];
    for (let cycle = 1; cycle < 4; cycle++) {
      const again = scrape();
      await clock.advance(24_000);
      await again;
      firstAtMs.push((first() ?? 0) - 12_000 - 24_000 * (cycle - 1));
    }
    expect(firstAtMs).to.deep.equal([516, 516, 1016, 1016]);
  });

  it('isolates a failing node', async () => {
    const { published, clock, done, outcomes } = setup({
      a: { afterMs: 5 },
      refusing: { afterMs: 1, fails: 'refused' },
      garbage: { afterMs: 1, text: '<html>' },
      'no-address': { afterMs: 0 },
    });
    await clock.advance(2000);
    await done;
    expect(published.flatMap(({ nodes }) => nodes)).to.deep.equal(['a']);
    const messages = outcomes.map(({ nodeName, error }) => [nodeName, error?.message ?? 'ok']);
    expect(Object.fromEntries(messages)).to.deep.include({
      a: 'ok',
      refusing: 'Cannot scrape node "refusing" at refusing:10250: refused',
      'no-address': 'Cannot scrape node "no-address": no address',
    });
    expect(Object.fromEntries(messages).garbage).to.match(
      /^Cannot scrape node "garbage" at garbage:10250: .*JSON/,
    );
  });

  it('rejects at the end of the cycle if a response cannot be processed', async () => {
    let next = 0;
    const onScraped = ({ nodeName }: ScrapeOutcome) => {
      if (nodeName === 'n0') throw new Error('cannot record it');
    };
    const unhandled: unknown[] = [];
    const onUnhandled = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', onUnhandled);
    try {
      const { requests, clock, done } = setup(many(50), { random: () => next++ / 50, onScraped });
      const failure = done.catch((error: Error) => error.message);
      await clock.advance(400);
      expect(await failure).to.equal('cannot record it');
      expect(requests).to.have.length(50);
    } finally {
      process.off('unhandledRejection', onUnhandled);
    }
    expect(unhandled).to.deep.equal([]);
  });

  describe('when a handshake waits for others', () => {
    /** Runs cycles of 15 s; returns the reports of the node in each, and the times of its requests. */
    const cyclesOf = async (waitsMs: number, afterMs: number, count: number) => {
      const { requests, clock, done, outcomes, published, scrape, cycle, stop } = setup({
        late: { waitsMs, afterMs },
      });
      const reported: (string | undefined)[][] = [];
      for (let number = 0; number < count; number++) {
        const ending = number === 0 ? cycle : new AbortController();
        const scraped = number === 0 ? done : scrape(Number.POSITIVE_INFINITY, ending.signal);
        await clock.advance(15_000);
        ending.abort(new Error('no response before the next cycle was due'));
        await scraped;
        reported.push(outcomes.splice(0).map(({ error }) => error?.reason.replace(/:.*/, '')));
      }
      return { requests, clock, published, reported, stop };
    };

    it('continues a scrape beyond its cycle, and requests once', async () => {
      const { requests, published, reported } = await cyclesOf(20_000, 500, 2);
      expect(reported).to.deep.equal([[], [undefined]]);
      expect(requests.map(({ atMs }) => atMs)).to.deep.equal([20_000]);
      expect(published.map(({ atMs }) => atMs)).to.deep.equal([20_500]);
    });

    it('continues a scrape that started just before the end of its cycle', async () => {
      expect((await cyclesOf(14_900, 500, 2)).reported).to.deep.equal([[], [undefined]]);
    });

    it('reports from the third cycle on that the node was not scraped', async () => {
      const { reported } = await cyclesOf(50_000, 0, 4);
      const unasked = 'the scrape waits for more than a cycle';
      expect(reported).to.deep.equal([[], [], [unasked], [unasked, undefined]]);
    });

    it('ends when the scraper is stopped', async () => {
      const { clock, stop } = await cyclesOf(50_000, 0, 1);
      stop.abort(new Error('the server is shutting down'));
      await clock.advance(0);
      expect(clock.sleeperCount).to.equal(0);
    });
  });

  it('measures each scrape from its own start', async () => {
    const { clock, done, outcomes } = setup({ a: { afterMs: 30 } }, { random: () => 0.5 });
    const beganAtMs = clock.nowMs();
    await clock.advance(100);
    await done;
    expect(outcomes[0]).to.deep.include({ nodeName: 'a', startedAtMs: beganAtMs + 4, durationMs: 30 });
  });

  it('fails pending scrapes at the end of the cycle', async () => {
    const { clock, cycle, done, outcomes } = setup({ a: { afterMs: 1 }, slow: { afterMs: 60_000 } });
    await clock.advance(15_000);
    cycle.abort(new Error('no response before the next cycle was due'));
    await done;
    expect(outcomes.map(({ nodeName, error }) => [nodeName, error?.reason])).to.deep.equal([
      ['a', undefined],
      ['slow', 'no response before the next cycle was due'],
    ]);
    expect(clock.sleeperCount).to.equal(0);
  });

  describe('for the second scrape of a node', () => {
    /** Returns when each kubelet was scraped in the second cycle, which starts at 12 s; the first scrapes are at 0 s. */
    const secondRequestAt = async (respondedAfterMs: readonly number[], endsAtMs: number) => {
      const kubelets = respondedAfterMs.map((afterMs, index) => [`n${index}`, { afterMs }] as const);
      const { requests, clock, done, scrape } = setup(Object.fromEntries(kubelets));
      await clock.advance(12_000);
      await done;
      requests.length = 0;
      const second = scrape(endsAtMs);
      await clock.advance(24_000);
      await second;
      return requests.map(({ host, atMs }) => [host, atMs]);
    };

    it('waits 12 s after the first response, so that the two yield a rate', async () => {
      const respondedAfterMs = [0, 500, 1500, 4000, 9999];
      const expected = respondedAfterMs.map((afterMs, index) => [`n${index}`, 12_000 + afterMs]);
      expect(await secondRequestAt(respondedAfterMs, 72_000)).to.deep.equal(expected);
    });

    it('leaves a scrape that would be too late to the next cycle', async () => {
      expect(await secondRequestAt([0, 5000, 5001], 22_000)).to.deep.equal([
        ['n0', 12_000],
        ['n1', 17_000],
      ]);
    });
  });

  it('treats a recreated node as new', async () => {
    const kubelets: Record<string, Kubelet> = { a: { afterMs: 0 }, b: { afterMs: 0 } };
    const { requests, clock, done, scrape } = setup(kubelets);
    const cycle = async (scraped: Promise<void>, durationMs: number) => {
      await clock.advance(durationMs);
      await scraped;
    };
    await cycle(done, 12_000);
    await cycle(scrape(), 12_000);
    delete kubelets.b;
    await cycle(scrape(), 12_000);
    kubelets.b = { afterMs: 0 };
    await cycle(scrape(), 1_000); // at 36 s
    await cycle(scrape(), 12_000);
    const requestedAtMs = requests.filter(({ host }) => host === 'b').map(({ atMs }) => atMs);
    expect(requestedAtMs).to.deep.equal([0, 12_000, 36_000, 48_000]);
  });

  it('returns to the same point of each cycle from the third scrape on', async () => {
    const { requests, clock, done, scrape } = setup({ a: { afterMs: 4000 } });
    await clock.advance(12_000);
    await done;
    for (const endsAtMs of [22_000, 32_000]) {
      const cycle = scrape(endsAtMs);
      await clock.advance(10_000);
      await cycle;
    }
    expect(requests.map(({ atMs }) => atMs)).to.deep.equal([0, 16_000, 22_000]);
  });

  it('resolves at once without nodes', async () => {
    const { published, clock, done } = setup({});
    await done;
    expect(published).to.deep.equal([]);
    expect(clock.sleeperCount).to.equal(0);
  });
});

const NEVER_TOO_SOON = Number.NEGATIVE_INFINITY;

describe('SecondScrapes', () => {
  it('delays only nodes that have responded once', () => {
    const seconds = new SecondScrapes(12_000);
    expect(seconds.dueMs('a')).to.equal(NEVER_TOO_SOON);
    seconds.recordResponse('a', 500);
    expect(seconds.dueMs('a')).to.equal(12_500);
    expect(seconds.dueMs('b')).to.equal(NEVER_TOO_SOON);
    for (const receivedAtMs of [12_600, 30_000]) {
      seconds.recordResponse('a', receivedAtMs);
      expect(seconds.dueMs('a')).to.equal(NEVER_TOO_SOON);
    }
  });

  it('treats a recreated node as new', () => {
    const seconds = new SecondScrapes(12_000);
    for (const receivedAtMs of [0, 12_000]) seconds.recordResponse('a', receivedAtMs);
    seconds.retain((nodeName) => nodeName !== 'a');
    seconds.recordResponse('a', 60_000);
    expect(seconds.dueMs('a')).to.equal(72_000);
    seconds.retain((nodeName) => nodeName === 'a');
    expect(seconds.dueMs('a')).to.equal(72_000);
  });
});
