import { expect } from 'chai';
import { type Condition, type Observed, removeCondition, setCondition } from '#lib/control/conditions.ts';

const NOON = Date.UTC(2026, 0, 1, 12);
const READY: Observed<Condition> = {
  type: 'Ready',
  status: 'True',
  reason: 'Scheduled',
  message: 'all is well',
};

describe('setCondition', () => {
  const first = setCondition<Condition>([], READY, NOON);

  it('adds a condition with the time since when it is so', () => {
    expect(first).to.deep.equal([{ ...READY, lastTransitionTime: '2026-01-01T12:00:00Z' }]);
  });

  it('changes nothing where nothing changed', () => {
    expect(setCondition(first, { ...READY }, NOON + 60_000)).to.equal(first);
  });

  it('preserves the transition time while the status is unchanged', () => {
    for (const change of [{ reason: 'Other' }, { message: 'other' }, { observedGeneration: 2 }]) {
      const [after] = setCondition(first, { ...READY, ...change }, NOON + 60_000);
      expect(after).to.deep.equal({ ...READY, ...change, lastTransitionTime: '2026-01-01T12:00:00Z' });
    }
  });

  it('notes the time when the status changes, and leaves other conditions as they are', () => {
    const other: Condition = { ...READY, type: 'Other', lastTransitionTime: '2020-01-01T00:00:00Z' };
    const after = setCondition([other, ...first], { ...READY, status: 'False' }, NOON + 60_000);
    expect(after[0]).to.equal(other);
    expect(after[1]).to.deep.equal({ ...READY, status: 'False', lastTransitionTime: '2026-01-01T12:01:00Z' });
  });

  it('has the reason stand in for an empty message, the same each time', () => {
    const quiet = setCondition<Condition>([], { ...READY, message: '' }, NOON);
    expect(quiet[0]?.message).to.equal('Scheduled');
    expect(setCondition(quiet, { ...READY, message: '' }, NOON + 60_000)).to.equal(quiet);
  });

  it('truncates a message beyond the limit of the API server, always in the same way', () => {
    const long = { ...READY, message: 'x'.repeat(100_000) };
    const cut = setCondition<Condition>([], long, NOON);
    expect(cut[0]?.message).to.have.length(32_768);
    expect(setCondition(cut, long, NOON + 60_000)).to.equal(cut);
  });

  it('adds a time to a condition without one', () => {
    const untimed: { type: string; status: string; lastTransitionTime?: string }[] = [
      { type: 'Ready', status: 'True' },
    ];
    const [after] = setCondition(untimed, { type: 'Ready', status: 'True' }, NOON);
    expect(after).to.deep.equal({
      type: 'Ready',
      status: 'True',
      lastTransitionTime: '2026-01-01T12:00:00Z',
    });
  });

  it('adds no time and no message to a form that has none', () => {
    const before = [{ type: 'Ready', status: 'Unknown' }];
    const after = setCondition(before, { type: 'Ready', status: 'True' });
    expect(after).to.deep.equal([{ type: 'Ready', status: 'True' }]);
    expect(setCondition(after, { type: 'Ready', status: 'True' })).to.equal(after);
  });
});

describe('removeCondition', () => {
  it('removes the condition of a type, and returns the same array where there is none', () => {
    const before = [
      { type: 'Ready', status: 'True' },
      { type: 'Other', status: 'True' },
    ];
    expect(removeCondition(before, 'Ready')).to.deep.equal([before[1]]);
    expect(removeCondition(before, 'Absent')).to.equal(before);
  });
});
