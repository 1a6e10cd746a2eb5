import { expect } from 'chai';
import { NO_MEMORY, remember, rememberScaling } from '#lib/hpa/decision/scaling-state.ts';
import { NOW_MS } from '#spec/hpa/built-world.ts';

describe('remember', () => {
  it('appends while nothing is too old', () => {
    expect(remember([1, 2], 3, () => false)).to.deep.equal([1, 2, 3]);
    expect(remember([], 3, () => true)).to.deep.equal([3]);
  });

  it('overwrites the last that is too old, and changes no list', () => {
    const entries = [1, 5, 2, 6];
    expect(remember(entries, 9, (entry) => entry < 3)).to.deep.equal([1, 5, 9, 6]);
    expect(entries).to.deep.equal([1, 5, 2, 6]);
  });
});

const event = (change: number, secondsAgo: number) => ({ change, atMs: NOW_MS - secondsAgo * 1000 });
const policy = (periodSeconds: number) => ({ type: 'Pods', value: 1, periodSeconds });

describe('rememberScaling', () => {
  const behavior = {
    scaleUp: { policies: [policy(60), policy(15)] },
    scaleDown: { policies: [policy(600)] },
  };

  it('remembers how far it went, by direction', () => {
    const up = rememberScaling(NO_MEMORY, { from: 2, to: 5 }, { behavior, nowMs: NOW_MS });
    expect(up).to.deep.equal({ ...NO_MEMORY, scaleUpEvents: [event(3, 0)] });
    const down = rememberScaling(up, { from: 5, to: 1 }, { behavior, nowMs: NOW_MS });
    expect(down).to.deep.equal({ ...up, scaleDownEvents: [event(4, 0)] });
  });

  it('overwrites what no policy asks for any more', () => {
    const memory = {
      ...NO_MEMORY,
      scaleUpEvents: [event(1, 61), event(2, 60)],
      scaleDownEvents: [event(1, 61)],
    };
    const after = rememberScaling(memory, { from: 2, to: 5 }, { behavior, nowMs: NOW_MS });
    expect(after.scaleUpEvents).to.deep.equal([event(3, 0), event(2, 60)]);
    const down = rememberScaling(memory, { from: 5, to: 2 }, { behavior, nowMs: NOW_MS });
    expect(down.scaleDownEvents).to.deep.equal([event(1, 61), event(3, 0)]);
  });

  it('remembers nothing for an HPA without behavior', () => {
    const after = rememberScaling(NO_MEMORY, { from: 2, to: 5 }, { behavior: undefined, nowMs: NOW_MS });
    expect(after).to.equal(NO_MEMORY);
  });
});
