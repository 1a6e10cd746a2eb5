import { expect } from 'chai';
import { EMPTY_STATE, recordEntry, recordScaling } from '#lib/hpa/decision/scaling-state.ts';
import { NOW_MS } from '#spec/hpa/built-inputs.ts';

describe('recordEntry', () => {
  it('appends while no entry is outdated', () => {
    expect(recordEntry([1, 2], 3, () => false)).to.deep.equal([1, 2, 3]);
    expect(recordEntry([], 3, () => true)).to.deep.equal([3]);
  });

  it('overwrites the last outdated entry, without mutating the list', () => {
    const entries = [1, 5, 2, 6];
    expect(recordEntry(entries, 9, (entry) => entry < 3)).to.deep.equal([1, 5, 9, 6]);
    expect(entries).to.deep.equal([1, 5, 2, 6]);
  });
});

const event = (change: number, secondsAgo: number) => ({ change, atMs: NOW_MS - secondsAgo * 1000 });
const policy = (periodSeconds: number) => ({ type: 'Pods', value: 1, periodSeconds });

describe('recordScaling', () => {
  const behavior = {
    scaleUp: { policies: [policy(60), policy(15)] },
    scaleDown: { policies: [policy(600)] },
  };

  it('records the change by direction', () => {
    const up = recordScaling(EMPTY_STATE, { from: 2, to: 5 }, { behavior, nowMs: NOW_MS });
    expect(up).to.deep.equal({ ...EMPTY_STATE, scaleUpEvents: [event(3, 0)] });
    const down = recordScaling(up, { from: 5, to: 1 }, { behavior, nowMs: NOW_MS });
    expect(down).to.deep.equal({ ...up, scaleDownEvents: [event(4, 0)] });
  });

  it('overwrites entries that no policy needs', () => {
    const memory = {
      ...EMPTY_STATE,
      scaleUpEvents: [event(1, 61), event(2, 60)],
      scaleDownEvents: [event(1, 61)],
    };
    const after = recordScaling(memory, { from: 2, to: 5 }, { behavior, nowMs: NOW_MS });
    expect(after.scaleUpEvents).to.deep.equal([event(3, 0), event(2, 60)]);
    const down = recordScaling(memory, { from: 5, to: 2 }, { behavior, nowMs: NOW_MS });
    expect(down.scaleDownEvents).to.deep.equal([event(1, 61), event(3, 0)]);
  });

  it('records nothing for an HPA without behavior', () => {
    const after = recordScaling(EMPTY_STATE, { from: 2, to: 5 }, { behavior: undefined, nowMs: NOW_MS });
    expect(after).to.equal(EMPTY_STATE);
  });
});
