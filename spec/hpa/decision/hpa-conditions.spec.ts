import { expect } from 'chai';
import { type ConditionChange, withConditions } from '#lib/hpa/decision/hpa-conditions.ts';

describe('withConditions', () => {
  const change = (type: ConditionChange['type'], isTrue: boolean, reason = 'R'): ConditionChange => ({
    ...{ type, isTrue, reason, message: 'm' },
  });
  const [EARLIER, NOW] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:15Z'];
  const before = [
    { type: 'ScalingLimited', status: 'True', lastTransitionTime: EARLIER, reason: 'A', message: 'a' },
    { type: 'AbleToScale', status: 'True', lastTransitionTime: EARLIER },
  ];

  it('keeps places, and times where the status stays', () => {
    const after = withConditions(before, [change('AbleToScale', true), change('ScalingLimited', false)], NOW);
    expect(after).to.deep.equal([
      { type: 'ScalingLimited', status: 'False', lastTransitionTime: NOW, reason: 'R', message: 'm' },
      { type: 'AbleToScale', status: 'True', lastTransitionTime: EARLIER, reason: 'R', message: 'm' },
    ]);
  });

  it('appends what is new, and lets the last change hold', () => {
    const changes = [change('ScalingActive', true, 'X'), change('ScalingActive', false, 'Y')];
    const after = withConditions(before, changes, NOW);
    expect(after.slice(0, 2)).to.deep.equal(before);
    expect(after[2]).to.deep.include({ type: 'ScalingActive', status: 'False', reason: 'Y' });
    expect(before).to.have.length(2);
  });

  it('gives a condition without a time one', () => {
    const [after] = withConditions(
      [{ type: 'AbleToScale', status: 'True' }],
      [change('AbleToScale', true)],
      NOW,
    );
    expect(after?.lastTransitionTime).to.equal(NOW);
  });
});
