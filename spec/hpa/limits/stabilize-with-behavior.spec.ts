import { expect } from 'chai';
import { stabilizeWithBehavior } from '#lib/hpa/limits/stabilize-with-behavior.ts';
import { NOW_MS } from '../built-world.ts';

const at = (replicas: number, secondsAgo: number) => ({ replicas, atMs: NOW_MS - secondsAgo * 1000 });

function stabilize(
  [proposed, currentReplicas]: readonly [number, number],
  earlier: readonly ReturnType<typeof at>[],
  [upSeconds, downSeconds]: readonly [number, number] = [60, 300],
) {
  const windows = { scaleUpWindowMs: upSeconds * 1000, scaleDownWindowMs: downSeconds * 1000 };
  return stabilizeWithBehavior({ proposed, currentReplicas }, earlier, { ...windows, nowMs: NOW_MS });
}

describe('stabilizeWithBehavior', () => {
  it('scales up no further than the lowest of its window', () => {
    expect(stabilize([9, 4], [at(6, 30), at(5, 61)])).to.deep.include({
      ...{ replicas: 6, heldBy: at(6, 30), reason: 'ScaleUpStabilized' },
    });
  });

  it('scales down no further than the highest of its window', () => {
    expect(stabilize([2, 8], [at(5, 299), at(7, 301)])).to.deep.include({
      ...{ replicas: 5, heldBy: at(5, 299), reason: 'ScaleDownStabilized' },
    });
  });

  it('stays between the two', () => {
    expect(stabilize([9, 4], [at(2, 30)]).replicas).to.equal(4);
    expect(stabilize([2, 4], [at(9, 30)]).replicas).to.equal(4);
  });

  it('follows where nothing holds it', () => {
    expect(stabilize([9, 4], [at(2, 61)])).to.include({ replicas: 9, reason: 'ReadyForNewScale' });
    expect(stabilize([2, 4], [at(9, 301)])).to.include({ replicas: 2, reason: 'ReadyForNewScale' });
  });

  it('overwrites only what is too old for both windows', () => {
    expect(stabilize([3, 3], [at(3, 100)]).recommendations).to.deep.equal([at(3, 100), at(3, 0)]);
    expect(stabilize([3, 3], [at(3, 301)]).recommendations).to.deep.equal([at(3, 0)]);
    expect(stabilize([3, 3], [at(3, 0)], [0, 0]).recommendations).to.deep.equal([at(3, 0)]);
  });
});
