import { expect } from 'chai';
import type { PodPoints } from '#lib/resource-metrics/metrics-batch.ts';
import { isStale, MetricsSink, servedUntilMs } from '#lib/resource-metrics/sink/metrics-sink.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { at, containerPoint, metricsBatch, nodePoint, podPoints } from '#spec/support/points.ts';

const MAX_GAP_MS = 300_000;

const RESOLUTION_MS = 60_000;
const STALENESS_MS = 70_000;

interface Setup {
  readonly clock: ManualClock;
  readonly sink: MetricsSink;
  /** Starts a cycle and passes the nodes' responses to the sink, by default with one pod each. */
  readonly response: (...nodes: { readonly name: string; readonly pods?: readonly PodPoints[] }[]) => void;
}

function setup({
  liveUids = {},
  stalenessMs = STALENESS_MS,
}: {
  readonly liveUids?: Record<string, string>;
  readonly stalenessMs?: number;
} = {}): Setup {
  const clock = new ManualClock(at(0));
  const livePodUid = (key: string) => liveUids[key];
  const sink = new MetricsSink({ clock, livePodUid, resolutionMs: RESOLUTION_MS, stalenessMs });
  const response: Setup['response'] = (...nodes) => {
    const seconds = clock.monotonicMs() / 1000;
    sink.beginCycle();
    for (const { name, pods } of nodes) {
      const response = metricsBatch({
        nodeName: name,
        receivedAtMs: clock.monotonicMs(),
        node: nodePoint({ takenAtMs: at(seconds), cpuCoreNanoseconds: 5e12 + seconds * 1e9 }),
        pods: pods ?? [podOn(name, seconds)],
      });
      sink.receive(response);
    }
    sink.publish();
  };
  return { clock, sink, response };
}

function podOn(node: string, seconds: number, changes: Partial<PodPoints> = {}): PodPoints {
  const container = containerPoint({ takenAtMs: at(seconds), cpuCoreNanoseconds: 1e9 + seconds * 1e8 });
  return podPoints({ name: `pod-${node}`, uid: `uid-${node}`, containers: [container], ...changes });
}

const nodesOf = ({ sink }: Setup) => [...sink.snapshot.nodes.keys()];
const podsOf = ({ sink }: Setup) => [...(sink.snapshot.pods.get('default')?.keys() ?? [])];

describe('MetricsSink', () => {
  it('serves nothing before the first response', () => {
    const { sink } = setup();
    expect(sink.snapshot.sequence).to.equal(0);
    expect(sink.isReady).to.equal(false);
  });

  it('is ready once there is a rate over two readings', async () => {
    const system = setup();
    system.response({ name: 'a' });
    expect(system.sink.isReady).to.equal(false);
    expect(nodesOf(system)).to.deep.equal(['a']);
    await system.clock.advance(12_000);
    system.response({ name: 'a' });
    expect(system.sink.isReady).to.equal(true);
    expect(podsOf(system)).to.deep.equal(['pod-a']);
    expect(system.sink.storagePoints).to.deep.equal({ node: 1, container: 1 });
  });

  it('is ready only when nodes and pods both have metrics, also of different nodes', async () => {
    const system = setup();
    const { clock, sink } = system;
    const podsOfB = () => {
      sink.beginCycle();
      const receivedAtMs = clock.monotonicMs();
      const pods = [podOn('b', receivedAtMs / 1000)];
      sink.receive(metricsBatch({ nodeName: 'b', receivedAtMs, node: undefined, pods }));
      sink.publish();
    };
    for (const makeResponses of [() => system.response({ name: 'a', pods: [] }), podsOfB]) {
      makeResponses();
      await clock.advance(12_000);
      expect(sink.isReady).to.equal(false);
      makeResponses();
      await clock.advance(12_000);
    }
    expect(sink.isReady).to.equal(true);
  });

  it('names the node of a response that cannot be processed, and retains its record', () => {
    const system = setup();
    system.response({ name: 'a' });
    const broken = metricsBatch({ nodeName: 'a', pods: undefined as unknown as [] });
    expect(() => system.sink.receive(broken)).to.throw('Cannot process the response of node "a"');
    system.sink.publish();
    expect(nodesOf(system)).to.deep.equal(['a']);
  });

  it('serves responses after they are published', async () => {
    const system = setup();
    system.response({ name: 'a' });
    await system.clock.advance(12_000);
    system.sink.receive(metricsBatch({ nodeName: 'b', receivedAtMs: 12_000 }));
    expect(nodesOf(system)).to.deep.equal(['a']);
    system.sink.publish();
    expect(nodesOf(system)).to.deep.equal(['a', 'b']);
  });

  it('replaces the snapshot without changing earlier ones', async () => {
    const system = setup();
    system.response({ name: 'a' });
    const before = system.sink.snapshot;
    await system.clock.advance(60_000);
    system.response({ name: 'a' }, { name: 'b' });
    expect([...before.nodes.keys()]).to.deep.equal(['a']);
    expect(system.sink.snapshot.sequence).to.equal(before.sequence + 1);
    expect(system.sink.snapshot.publishedAtMs).to.equal(system.clock.nowMs());
  });

  it('never serves a partial cycle', async () => {
    const system = setup({ stalenessMs: 0 });
    system.response({ name: 'a' }, { name: 'b' });
    await system.clock.advance(12_000);
    system.sink.beginCycle();
    system.sink.receive(
      metricsBatch({
        ...{ nodeName: 'a', receivedAtMs: 12_000 },
        ...{ node: nodePoint({ takenAtMs: at(12) }), pods: [podOn('a', 12)] },
      }),
    );
    system.sink.receive(metricsBatch({ nodeName: 'c', receivedAtMs: 12_000 }));
    system.sink.recordFailure('b');
    expect(nodesOf(system)).to.deep.equal(['a']);
    expect(system.sink.snapshot.nodes.get('a')?.timestampMs).to.equal(at(0));
    expect(system.sink.isReady).to.equal(false);
    system.sink.publish();
    expect(nodesOf(system)).to.have.members(['a', 'c']);
    expect(system.sink.snapshot.nodes.get('a')?.timestampMs).to.equal(at(12));
    expect(system.sink.isReady).to.equal(true);
  });

  describe('if a node does not respond', () => {
    it('serves its last good reading after one failed scrape, but not after two', async () => {
      const system = setup();
      system.response({ name: 'a' }, { name: 'b' });
      await system.clock.advance(12_000);
      system.response({ name: 'a' }, { name: 'b' });
      await system.clock.advance(60_000);
      system.response({ name: 'a' });
      await system.clock.advance(10_000);
      system.sink.recordFailure('b');
      expect(nodesOf(system)).to.have.members(['a', 'b']);
      expect(podsOf(system)).to.have.members(['pod-a', 'pod-b']);
      expect(system.sink.snapshot.nodes.get('b')?.timestampMs).to.equal(at(12));
      await system.clock.advance(50_000);
      system.response({ name: 'a' });
      expect(nodesOf(system)).to.have.members(['a', 'b']);
      await system.clock.advance(10_000);
      system.sink.recordFailure('b');
      expect(nodesOf(system)).to.deep.equal(['a']);
      expect(podsOf(system)).to.deep.equal(['pod-a']);
      expect(system.sink.storagePoints).to.deep.equal({ node: 1, container: 1 });
    });

    it('creates one snapshot for several failures', () => {
      const system = setup({ stalenessMs: 0 });
      system.response({ name: 'a' }, { name: 'b' }, { name: 'c' });
      const { sequence } = system.sink.snapshot;
      for (const name of ['a', 'b', 'a', 'unheard of']) system.sink.recordFailure(name);
      expect(nodesOf(system)).to.deep.equal(['c']);
      expect(system.sink.snapshot.sequence).to.equal(sequence + 1);
      system.sink.recordFailure('a');
      expect(system.sink.snapshot.sequence).to.equal(sequence + 1);
    });

    it('counts it and its pods as stale', async () => {
      const system = setup();
      system.response({ name: 'a' }, { name: 'b' });
      await system.clock.advance(60_000);
      system.response({ name: 'a' }, { name: 'b' });
      expect(system.sink.staleCounts).to.deep.equal({ node: 0, pod: 0 });
      await system.clock.advance(60_000);
      system.response({ name: 'a' });
      system.sink.recordFailure('b');
      expect(system.sink.staleCounts).to.deep.equal({ node: 1, pod: 1 });
      await system.clock.advance(60_000);
      system.response({ name: 'a' });
      system.sink.recordFailure('b');
      expect(system.sink.staleCounts).to.deep.equal({ node: 0, pod: 0 });
    });

    it('serves nothing forever after cycles have stopped', async () => {
      for (const stalenessMs of [STALENESS_MS, 0, 3_600_000]) {
        const system = setup({ stalenessMs });
        system.response({ name: 'a' });
        await system.clock.advance(2.5 * RESOLUTION_MS - 1);
        expect(nodesOf(system)).to.deep.equal(['a']);
        await system.clock.advance(1);
        expect(nodesOf(system)).to.deep.equal([]);
        expect(podsOf(system)).to.deep.equal([]);
      }
    });

    it('retains it while it is served, even beyond the maximum gap', async () => {
      const system = setup({ stalenessMs: 3_600_000 });
      system.response({ name: 'a' }, { name: 'b' });
      for (let cycle = 1; cycle <= 10; cycle++) {
        await system.clock.advance(RESOLUTION_MS);
        system.response({ name: 'a' });
        system.sink.recordFailure('b');
        system.sink.retain(() => true);
      }
      expect(nodesOf(system)).to.have.members(['a', 'b']);
    });

    it('serves it again after one response, using earlier readings', async () => {
      const system = setup();
      system.response({ name: 'a' });
      await system.clock.advance(240_000);
      system.sink.retain(() => true);
      expect(podsOf(system)).to.deep.equal([]);
      system.response({ name: 'a' });
      expect(podsOf(system)).to.deep.equal(['pod-a']);
      expect(system.sink.snapshot.nodes.get('a')).to.deep.include({ windowMs: 240_000, cpuNanocores: 1e9 });
    });

    it('does not compare with readings beyond the maximum gap', async () => {
      const system = setup();
      system.response({ name: 'a' });
      await system.clock.advance(MAX_GAP_MS + 1);
      system.sink.retain(() => true);
      system.response({ name: 'a' });
      expect(podsOf(system)).to.deep.equal([]);
    });

    it('removes it when it is deleted', async () => {
      const system = setup();
      system.response({ name: 'a' }, { name: 'b' });
      await system.clock.advance(60_000);
      system.sink.retain((name) => name === 'a');
      system.response({ name: 'a' }, { name: 'b' });
      expect(podsOf(system)).to.deep.equal(['pod-a']);
    });

    it('removes it and its pods when it is deleted, even without other responses', async () => {
      for (const stalenessMs of [STALENESS_MS, 0]) {
        const system = setup({ stalenessMs });
        system.response({ name: 'a' });
        await system.clock.advance(12_000);
        system.response({ name: 'a' });
        expect(podsOf(system)).to.deep.equal(['pod-a']);
        system.sink.retain(() => false);
        expect(podsOf(system)).to.deep.equal([]);
      }
    });

    it('uses only the monotonic clock', async () => {
      const system = setup();
      system.response({ name: 'a' });
      system.clock.stepWall(86_400_000);
      expect(nodesOf(system)).to.deep.equal(['a']);
    });

    it('remains ready, so that discovery does not depend on scrapes', async () => {
      const system = setup();
      system.response({ name: 'a' });
      await system.clock.advance(12_000);
      system.response({ name: 'a' });
      for (let cycle = 0; cycle < 10; cycle++) {
        await system.clock.advance(RESOLUTION_MS);
        system.sink.beginCycle();
        system.sink.recordFailure('a');
        system.sink.retain(() => true);
        expect(system.sink.isReady).to.equal(true);
      }
      expect(podsOf(system)).to.deep.equal([]);
    });
  });

  describe('if cycles stop', () => {
    const pauseClock = async () => {
      const system = setup();
      system.response({ name: 'a' });
      await system.clock.advance(12_000);
      system.response({ name: 'a' });
      await system.clock.advance(2.5 * RESOLUTION_MS - 1);
      expect(system.sink.isReady).to.equal(true);
      await system.clock.advance(1);
      expect(system.sink.isReady).to.equal(false);
      system.sink.beginCycle();
      expect(system.sink.isReady).to.equal(false);
      return system;
    };

    it('is not ready until a node responds', async () => {
      const system = await pauseClock();
      system.response({ name: 'a' });
      expect(podsOf(system)).to.deep.equal(['pod-a']);
      expect(system.sink.isReady).to.equal(true);
    });

    it('is not ready before responses are published', async () => {
      const { sink } = await pauseClock();
      sink.receive(metricsBatch({ nodeName: 'a', receivedAtMs: 162_000 }));
      expect(sink.isReady).to.equal(false);
      sink.publish();
      expect(sink.isReady).to.equal(true);
    });

    it('starts over after a stall beyond the maximum gap', async () => {
      const system = setup();
      system.response({ name: 'a' });
      await system.clock.advance(12_000);
      system.response({ name: 'a' });
      await system.clock.advance(RESOLUTION_MS);
      system.sink.beginCycle();
      await system.clock.advance(MAX_GAP_MS);
      system.sink.recordFailure('a');
      system.sink.retain(() => true);
      expect(system.sink.isReady).to.equal(false);
      system.response({ name: 'a' });
      expect(system.sink.isReady).to.equal(false);
      await system.clock.advance(RESOLUTION_MS);
      system.response({ name: 'a' });
      expect(system.sink.isReady).to.equal(true);
    });

    it('serves stale metrics again after failed scrapes, if staleness allows it', async () => {
      const system = setup({ stalenessMs: 3_600_000 });
      system.response({ name: 'a' });
      await system.clock.advance(2.5 * RESOLUTION_MS);
      expect(nodesOf(system)).to.deep.equal([]);
      system.sink.beginCycle();
      system.sink.recordFailure('a');
      expect(nodesOf(system)).to.deep.equal(['a']);
    });

    it('is ready again after all scrapes failed', async () => {
      const { sink } = await pauseClock();
      sink.recordFailure('a');
      expect(sink.isReady).to.equal(true);
    });
  });

  describe('if two nodes report one pod', () => {
    const moved = async (
      liveUids: Record<string, string>,
      { uidOnNew }: { uidOnNew?: string } = { uidOnNew: 'uid-2' },
    ) => {
      const system = setup({ liveUids });
      const podAt = (seconds: number, uid: string | undefined) => podOn('x', seconds, { name: 'db-0', uid });
      system.response(
        { name: 'old', pods: [podAt(0, 'uid-1')] },
        { name: 'new', pods: [podAt(0, uidOnNew)] },
      );
      await system.clock.advance(60_000);
      system.response(
        { name: 'old', pods: [podAt(60, 'uid-1')] },
        { name: 'new', pods: [podAt(59, uidOnNew)] },
      );
      return system.sink.snapshot.pods.get('default')?.get('db-0');
    };

    it('serves the report with the live UID', async () => {
      expect((await moved({ 'default/db-0': 'uid-2' }))?.uid).to.equal('uid-2');
      expect((await moved({ 'default/db-0': 'uid-1' }))?.uid).to.equal('uid-1');
    });

    it('serves a report without a UID if the other is of another pod', async () => {
      expect((await moved({ 'default/db-0': 'uid-2' }, {}))?.timestampMs).to.equal(at(59));
    });

    it('serves the later report if UIDs do not decide', async () => {
      expect((await moved({}))?.uid).to.equal('uid-1');
      expect((await moved({ 'default/db-0': 'uid-3' }))?.uid).to.equal('uid-1');
    });

    /** Returns the node served for a pod that `home` sampled 10 s ago, and another node at an offset in seconds. */
    const contested = async (
      liveUid: string | undefined,
      { home, other, otherSeconds }: { home?: string; other?: string; otherSeconds: number },
    ) => {
      const system = setup({ liveUids: liveUid === undefined ? {} : { 'default/db-0': liveUid } });
      const podOf = (uid: string | undefined, seconds: number) => [
        podOn('x', seconds, { name: 'db-0', uid }),
      ];
      for (const seconds of [0, 60]) {
        await system.clock.advance(seconds * 1000);
        const nodes = [
          { name: 'home', pods: podOf(home, seconds - 10) },
          { name: 'other', pods: podOf(other, seconds + otherSeconds) },
        ];
        system.response(...nodes);
      }
      const usage = system.sink.snapshot.pods.get('default')?.get('db-0');
      return usage?.timestampMs === at(50) ? 'home' : 'other';
    };

    it('prefers a report with the live UID to one without, regardless of timestamps', async () => {
      for (const otherSeconds of [-20, -1, 20]) {
        expect(await contested('uid-1', { home: 'uid-1', otherSeconds })).to.equal('home');
        expect(await contested(undefined, { home: 'uid-1', otherSeconds })).to.equal('home');
      }
    });

    it('serves the later report without UIDs, unless its timestamp is in the future', async () => {
      for (const [otherSeconds, expected] of [
        [-20, 'home'],
        [-1, 'other'],
        [20, 'home'],
      ] as const) {
        expect(await contested('uid-1', { otherSeconds })).to.equal(expected);
        expect(await contested(undefined, { otherSeconds })).to.equal(expected);
        const both = { home: 'uid-1', other: 'uid-1', otherSeconds };
        expect(await contested('uid-1', both)).to.equal(expected);
      }
    });

    it('prefers a report without a UID to one with another UID', async () => {
      expect(await contested('uid-1', { other: 'uid-0', otherSeconds: -1 })).to.equal('home');
      expect(await contested('uid-1', { home: 'uid-0', otherSeconds: -20 })).to.equal('other');
    });
  });
});

const LIMITS = { resolutionMs: 60_000, stalenessMs: 70_000 };
const DROPPED = Number.NEGATIVE_INFINITY;

describe('isStale', () => {
  it('is true after a failed scrape', () => {
    expect(isStale({ respondedInCycleMs: 0, failedInCycleMs: undefined })).to.equal(false);
    expect(isStale({ respondedInCycleMs: 0, failedInCycleMs: 0 })).to.equal(true);
  });
});

describe('servedUntilMs', () => {
  const until = (failedInCycleMs: number | undefined, limits: Partial<typeof LIMITS> = {}) =>
    servedUntilMs({ respondedInCycleMs: 12_000, failedInCycleMs }, { ...LIMITS, ...limits });

  it('returns two and a half resolutions after the last response or failure', () => {
    expect(until(undefined)).to.equal(162_000);
    expect(until(72_000)).to.equal(222_000);
  });

  it('returns the past once a failed scrape finds the response too old', () => {
    expect(until(132_000)).to.equal(DROPPED);
    expect(until(12_000, { stalenessMs: 0 })).to.equal(DROPPED);
    expect(until(undefined, { stalenessMs: 0 })).to.equal(162_000);
  });

  it('tolerates cycles that start some milliseconds early or late', () => {
    for (const driftMs of [-9, 0, 9]) {
      expect(until(72_000 + driftMs, { stalenessMs: 120_000 })).to.be.above(0);
      expect(until(132_000 + driftMs, { stalenessMs: 120_000 })).to.equal(DROPPED);
      expect(until(72_000 + driftMs, { stalenessMs: 60_001 })).to.be.above(0);
    }
  });
});
