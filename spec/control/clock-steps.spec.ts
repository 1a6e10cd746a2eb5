import { expect } from 'chai';
import { clockSteps } from '#lib/control/clock-steps.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('clockSteps', () => {
  it('reports all keys after a step of the wall clock in either direction, and none without a step', async () => {
    const clock = new ManualClock();
    const reported: string[] = [];
    const leave = clockSteps(clock, () => ['a', 'b']).onChange(({ key }) => reported.push(key), {
      replay: true,
    });
    await clock.advance(60_000);
    clock.stepWall(499);
    await clock.advance(60_000);
    clock.stepWall(-998); // in the other direction
    await clock.advance(60_000);
    expect(reported).to.deep.equal([]);
    clock.stepWall(-1); // half a second from the first observation
    await clock.advance(4999);
    expect(reported).to.deep.equal([]);
    await clock.advance(1);
    expect(reported.splice(0)).to.deep.equal(['a', 'b']);
    clock.stepWall(3_600_000);
    await clock.advance(60_000);
    expect(reported).to.deep.equal(['a', 'b']);
    clock.stepWall(-3_600_000);
    await clock.advance(60_000);
    expect(reported).to.deep.equal(['a', 'b', 'a', 'b']);
    leave();
    expect(clock.sleeperCount).to.equal(0);
  });
});
