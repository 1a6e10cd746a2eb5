import { expect } from 'chai';
import { clockTime, highestReplicas, replicaChart } from '#lib/ui/replica-chart.ts';

describe('replicaChart', () => {
  it('draws replicas and bounds, and proposals where they are given', () => {
    const replicas = [
      { atMs: 0, value: 2 },
      { atMs: 60_000, value: 4 },
    ];
    const axes = { fromMs: 0, untilMs: 60_000 };
    const drawn = (chart: Parameters<typeof replicaChart>[0]) => String(replicaChart(chart, axes));
    const own = drawn({ replicas, minReplicas: 1, maxReplicas: 5 });
    expect(own).to.include('bounds 1 to 5').and.to.not.include('proposed');
    expect(own.match(/<path /g)).to.have.lengthOf(1);
    expect(own.match(/class="bound"/g)).to.have.lengthOf(2);
    const both = drawn({ replicas, proposed: replicas, minReplicas: undefined, maxReplicas: 5 });
    expect(both).to.include('proposed by metrics').and.to.not.include('class="bound"');
  });
});

describe('clockTime', () => {
  it('has seconds unless they are 0', () => {
    expect([clockTime(3_660_000), clockTime(3_661_000)]).to.deep.equal(['01:01', '01:01:01']);
  });
});

describe('highestReplicas', () => {
  const highest = (
    replicas: readonly (number | undefined)[],
    proposed: readonly (number | undefined)[],
    maxReplicas: number,
  ) => {
    const points = (values: readonly (number | undefined)[]) =>
      values.map((value, atMs) => ({ atMs, value }));
    return highestReplicas({ replicas: points(replicas), proposed: points(proposed), maxReplicas });
  };

  it('shows the maximum when replicas come near it, and at most twice as much of proposals', () => {
    expect(highest([2, 5, 3], [4], 10)).to.equal(10);
    expect(highest([2, 4, 3], [4], 10)).to.equal(4);
    expect(highest([2], [6, 3], 10)).to.equal(10);
    expect(highest([2], [15, 3], 10)).to.equal(15);
    expect(highest([2], [500, 3], 10)).to.equal(20);
    expect(highest([30], [5], 10)).to.equal(30);
    expect(highest([undefined], [undefined], 10)).to.equal(1);
    expect(highest([], [], 2)).to.equal(2);
  });
});
