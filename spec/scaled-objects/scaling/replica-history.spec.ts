import { expect } from 'chai';
import { ReplicaHistory } from '#lib/scaled-objects/scaling/replica-history.ts';

describe('ReplicaHistory', () => {
  it('has each change and the latest observation', () => {
    const history = new ReplicaHistory();
    expect(history.points()).to.deep.equal([]);
    for (const [atMs, replicas] of [
      [0, 2],
      [10, 2],
      [20, 4],
      [30, 4],
      [40, 4],
    ] as const)
      history.record(replicas, atMs);
    expect(history.points()).to.deep.equal([
      { atMs: 0, value: 2 },
      { atMs: 20, value: 4 },
      { atMs: 40, value: 4 },
    ]);
    history.record(0, 50);
    expect(history.points().at(-1)).to.deep.equal({ atMs: 50, value: 0 });
  });

  it('retains the latest hundred changes', () => {
    const history = new ReplicaHistory();
    for (let atMs = 0; atMs <= 100; atMs++) history.record(atMs, atMs);
    const points = history.points();
    expect([points.length, points[0]?.atMs]).to.deep.equal([100, 1]);
  });
});
