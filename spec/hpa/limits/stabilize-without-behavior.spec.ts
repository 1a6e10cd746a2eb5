import { expect } from 'chai';
import { stabilizeWithoutBehavior } from '#lib/hpa/limits/stabilize-without-behavior.ts';
import { NOW_MS } from '../built-world.ts';

const at = (replicas: number, secondsAgo: number) => ({ replicas, atMs: NOW_MS - secondsAgo * 1000 });
const WINDOW = { windowMs: 300_000, nowMs: NOW_MS };

describe('stabilizeWithoutBehavior', () => {
  it('holds the highest recommendation of the window', () => {
    const earlier = [at(9, 301), at(7, 300), at(5, 10)];
    expect(stabilizeWithoutBehavior(3, earlier, WINDOW)).to.deep.include({
      ...{ replicas: 7, proposed: 3, heldBy: at(7, 300), reason: 'ScaleDownStabilized' },
      recommendations: [at(3, 0), at(7, 300), at(5, 10)],
    });
  });

  it('lets the highest pass', () => {
    const stabilization = stabilizeWithoutBehavior(8, [at(7, 10)], WINDOW);
    expect(stabilization).to.deep.include({ replicas: 8, reason: 'ReadyForNewScale' });
    expect(stabilization).to.not.have.property('heldBy');
    expect(stabilization.recommendations).to.deep.equal([at(7, 10), at(8, 0)]);
  });

  it('overwrites the last of those that are too old', () => {
    const earlier = [at(1, 400), at(2, 100), at(3, 500), at(4, 50)];
    expect(stabilizeWithoutBehavior(5, earlier, WINDOW).recommendations).to.deep.equal([
      ...[at(1, 400), at(2, 100), at(5, 0), at(4, 50)],
    ]);
  });

  it('remembers nothing within a window of no length, not even what was seen this instant', () => {
    const stabilization = stabilizeWithoutBehavior(3, [at(9, 0)], { windowMs: 0, nowMs: NOW_MS });
    expect(stabilization).to.deep.include({ replicas: 3, recommendations: [at(3, 0)] });
  });
});
