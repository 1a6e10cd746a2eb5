import { expect } from 'chai';
import { ServedSnapshot } from '#lib/resource-metrics/api/served-snapshot.ts';
import type { Snapshot } from '#lib/resource-metrics/sink/snapshot.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { nodeUsage, podUsage, snapshotOf } from '#spec/support/metrics-source.ts';

describe('ServedSnapshot', () => {
  let clock: ManualClock;
  let latest: Snapshot;
  let isAwaited: boolean;
  let prepared: { readonly sequence: number; readonly signal: AbortSignal; end(error?: Error): void }[];
  let failures: unknown[];
  let served: ServedSnapshot;
  beforeEach(() => {
    clock = new ManualClock();
    latest = { ...snapshotOf({ pods: [podUsage('n', 'p')] }), sequence: 0 };
    isAwaited = true;
    prepared = [];
    failures = [];
    served = new ServedSnapshot({
      clock,
      latest: () => latest,
      isAwaited: () => isAwaited,
      prepare: ({ sequence }, signal) =>
        new Promise((resolve, reject) => {
          const end = (error?: Error) => (error ? reject(error) : resolve());
          prepared.push({ sequence, signal, end });
        }),
      onFailure: (error) => failures.push(error),
    });
  });
  afterEach(() => {
    served[Symbol.dispose]();
    expect(clock.sleeperCount).to.equal(0);
  });

  function publish(): void {
    served.replaceBy(() => {
      latest = { ...latest, sequence: latest.sequence + 1 };
    });
  }

  async function endPreparing(error?: Error): Promise<void> {
    prepared.at(-1)?.end(error);
    await clock.advance(0);
  }

  it('serves the previous snapshot until the next one is prepared', async () => {
    publish();
    expect(served.current.sequence).to.equal(0);
    await endPreparing();
    expect(served.current.sequence).to.equal(1);
    expect(prepared.map(({ sequence }) => sequence)).to.deep.equal([1]);
  });

  it('serves the next snapshot at once if nothing was requested', () => {
    isAwaited = false;
    publish();
    expect(served.current.sequence).to.equal(1);
    expect(prepared).to.deep.equal([]);
  });

  it('serves the next snapshot at once if there was none before', () => {
    latest = { ...snapshotOf({ nodes: [nodeUsage('node-1')] }), sequence: 0 };
    publish();
    expect(served.current.sequence).to.equal(1);
  });

  it('also prepares snapshots published in the meantime', async () => {
    publish();
    publish();
    await endPreparing();
    await endPreparing();
    expect(served.current.sequence).to.equal(2);
    expect(prepared.map(({ sequence }) => sequence)).to.deep.equal([1, 2]);
  });

  it('serves prepared snapshots even if new ones are published faster', async () => {
    publish();
    for (let sequence = 1; sequence < 5; sequence++) {
      await clock.advance(900);
      publish();
      expect(served.current.sequence).to.equal(sequence - 1);
      await endPreparing();
      expect(served.current.sequence).to.equal(sequence);
    }
    await clock.advance(1_400);
    expect(served.current.sequence).to.equal(5);
    await endPreparing();
    expect(served.current.sequence, 'what comes after it gave up').to.equal(5);
  });

  it('stops preparing after a few seconds', async () => {
    publish();
    await clock.advance(4_999);
    publish();
    expect(served.current.sequence).to.equal(0);
    await clock.advance(1);
    expect(served.current.sequence).to.equal(2);
    expect(prepared[0]?.signal.aborted).to.equal(true);
  });

  it('starts no preparation for four times its last duration', async () => {
    publish();
    await clock.advance(300);
    await endPreparing();
    await clock.advance(1_199);
    publish();
    expect(served.current.sequence).to.equal(2);
    await clock.advance(1);
    publish();
    expect(served.current.sequence).to.equal(2);
    expect(prepared.map(({ sequence }) => sequence)).to.deep.equal([1, 3]);
  });

  it('serves the next snapshot and reports the error if preparation fails', async () => {
    publish();
    await endPreparing(new Error('cannot encode'));
    expect(served.current.sequence).to.equal(1);
    expect((failures[0] as Error).message).to.equal('cannot encode');
  });

  it('reports no error after preparation was stopped', async () => {
    publish();
    await clock.advance(5_000);
    await endPreparing(new Error('aborted'));
    expect(failures).to.deep.equal([]);
  });

  it('stops preparation at disposal', () => {
    publish();
    served[Symbol.dispose]();
    expect(prepared[0]?.signal.aborted).to.equal(true);
    expect(served.current.sequence).to.equal(1);
  });

  it('serves snapshots at once after disposal', () => {
    served[Symbol.dispose]();
    publish();
    expect(served.current.sequence).to.equal(1);
    expect(prepared).to.deep.equal([]);
    expect(clock.sleeperCount).to.equal(0);
  });
});
