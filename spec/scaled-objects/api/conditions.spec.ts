import { expect } from 'chai';
import { conditionStatus, setConditions } from '#lib/scaled-objects/api/conditions.ts';

describe('setConditions', () => {
  const ready = { type: 'Ready', status: 'True', reason: 'r', message: 'm' } as const;

  for (const [kind, others] of [
    ['ScaledObject', ['Active Unknown', 'Fallback Unknown', 'Paused False']],
    ['ScaledJob', ['Active Unknown', 'Paused False']],
  ] as const) {
    it(`has the initial conditions of a ${kind}, and replaces them by observed ones`, () => {
      const [first, ...rest] = setConditions(kind, undefined, [ready]);
      expect(first).to.deep.equal(ready);
      expect(rest.map(({ type, status }) => `${type} ${status}`)).to.deep.equal(others);
    });
  }

  it('retains conditions that were not observed, of other types, too', () => {
    const before = [
      { type: 'Active', status: 'True', reason: 'a', message: 'b' },
      { type: 'Own', status: 'True', reason: 'r', message: 'm' },
    ] as const;
    const paused = { type: 'Paused', status: 'False' };
    expect(setConditions('ScaledJob', before, [ready])).to.deep.equal([ready, before[0], paused, before[1]]);
  });

  it('has no empty reasons, messages, or fields that the kind does not have', () => {
    const foreign = {
      type: 'Active',
      status: 'True',
      reason: '',
      message: '',
      lastTransitionTime: '2026',
    } as const;
    expect(setConditions('ScaledJob', [foreign], [])[1]).to.deep.equal({ type: 'Active', status: 'True' });
  });
});

describe('conditionStatus', () => {
  it('is that of the condition of a type, and unknown without one', () => {
    const conditions = [
      { type: 'Ready', status: 'True' },
      { type: 'Active', status: 'False' },
    ] as const;
    expect(conditionStatus(conditions, 'Active')).to.equal('False');
    expect(conditionStatus(conditions, 'Paused')).to.equal('Unknown');
    expect(conditionStatus(undefined, 'Ready')).to.equal('Unknown');
  });
});
