import { expect } from 'chai';
import { type Condition, type FoundCondition, withCondition } from '#lib/control/conditions.ts';

const NOON = Date.UTC(2026, 0, 1, 12);
const READY: FoundCondition = { type: 'Ready', status: 'True', reason: 'Scheduled', message: 'all is well' };

describe('withCondition', () => {
  const first = withCondition([], READY, NOON);

  it('adds a condition with the time since when it is so', () => {
    expect(first).to.deep.equal([{ ...READY, lastTransitionTime: '2026-01-01T12:00:00Z' }]);
  });

  it('changes nothing where nothing changed', () => {
    expect(withCondition(first, { ...READY }, NOON + 60_000)).to.equal(first);
  });

  it('keeps the time while the status stays, whatever else changes', () => {
    for (const change of [{ reason: 'Other' }, { message: 'other' }, { observedGeneration: 2 }]) {
      const [after] = withCondition(first, { ...READY, ...change }, NOON + 60_000);
      expect(after).to.deep.equal({ ...READY, ...change, lastTransitionTime: '2026-01-01T12:00:00Z' });
    }
  });

  it('notes the time when the status changes, and leaves other conditions as they are', () => {
    const other: Condition = { ...READY, type: 'Other', lastTransitionTime: '2020-01-01T00:00:00Z' };
    const after = withCondition([other, ...first], { ...READY, status: 'False' }, NOON + 60_000);
    expect(after[0]).to.equal(other);
    expect(after[1]).to.deep.equal({ ...READY, status: 'False', lastTransitionTime: '2026-01-01T12:01:00Z' });
  });

  it('has the reason stand in for an empty message, the same each time', () => {
    const quiet = withCondition([], { ...READY, message: '' }, NOON);
    expect(quiet[0]?.message).to.equal('Scheduled');
    expect(withCondition(quiet, { ...READY, message: '' }, NOON + 60_000)).to.equal(quiet);
  });

  it('cuts a message that no API server takes, the same each time', () => {
    const long = { ...READY, message: 'x'.repeat(100_000) };
    const cut = withCondition([], long, NOON);
    expect(cut[0]?.message).to.have.length(32_768);
    expect(withCondition(cut, long, NOON + 60_000)).to.equal(cut);
  });
});
