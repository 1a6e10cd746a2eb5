import { expect } from 'chai';
import { type ConditionChange, changeConditions } from '#lib/hpa/decision/hpa-conditions.ts';

describe('changeConditions', () => {
  const change = (type: ConditionChange['type'], isTrue: boolean, reason = 'R'): ConditionChange => ({
    ...{ type, isTrue, reason, message: 'm' },
  });
  const [EARLIER, NOW] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:15Z'];
  const NOW_MS = Date.UTC(2026, 0, 1, 0, 0, 15);
  const before = [
    { type: 'ScalingLimited', status: 'True', lastTransitionTime: EARLIER, reason: 'A', message: 'a' },
    { type: 'AbleToScale', status: 'True', lastTransitionTime: EARLIER },
  ];

  it('retains the order, and transition times of unchanged statuses', () => {
    const after = changeConditions(
      before,
      [change('AbleToScale', true), change('ScalingLimited', false)],
      NOW_MS,
    );
    expect(after).to.deep.equal([
      { type: 'ScalingLimited', status: 'False', lastTransitionTime: NOW, reason: 'R', message: 'm' },
      { type: 'AbleToScale', status: 'True', lastTransitionTime: EARLIER, reason: 'R', message: 'm' },
    ]);
  });

  it('appends new types, and applies the last change', () => {
    const changes = [change('ScalingActive', true, 'X'), change('ScalingActive', false, 'Y')];
    const after = changeConditions(before, changes, NOW_MS);
    expect(after.slice(0, 2)).to.deep.equal(before);
    expect(after[2]).to.deep.include({ type: 'ScalingActive', status: 'False', reason: 'Y' });
    expect(before).to.have.length(2);
  });

  it('removes a condition, and ignores a missing one', () => {
    const removal = { type: 'ScaledToZero', isRemoved: true } as const;
    const scaled = changeConditions(before, [change('ScaledToZero', true)], NOW_MS);
    expect(changeConditions(scaled, [removal], NOW_MS)).to.deep.equal(before);
    expect(changeConditions(before, [removal], NOW_MS)).to.equal(before);
  });
});
