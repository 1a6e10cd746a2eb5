import { expect } from 'chai';
import type { LoggedDecision } from '#lib/hpa/observability/decision-log.ts';
import { decisionRuns, formatDecisionRuns } from '#lib/hpa/observability/decision-runs.ts';

const START_MS = Date.UTC(2026, 0, 1, 11, 33, 45);

/** Decisions 15 seconds apart. */
function decisions(...facts: readonly Partial<LoggedDecision>[]): readonly LoggedDecision[] {
  return facts.map((fact, index) => ({
    ...{ atMs: START_MS + index * 15_000, step: 'metrics', isScaled: false },
    ...{ currentReplicas: 5, proposedReplicas: 5, desiredReplicas: 5 },
    ...fact,
  }));
}

describe('formatDecisionRuns', () => {
  it('formats a run of equal decisions as one line, with the range of proposals', () => {
    const stays = Array.from({ length: 28 }, (_, index) => ({ proposedReplicas: index === 3 ? 4 : 5 }));
    const log = decisions({ currentReplicas: 4, isScaled: true }, ...stays);
    expect(formatDecisionRuns(log)).to.deep.equal([
      '2026-01-01',
      '11:34–11:40  28 × stayed at 5, metrics propose 4 to 5',
      '11:33:45  scaled from 4 to 5, metrics propose 5',
    ]);
  });

  it('ends a run where replicas, step, scale, agreement or error differ', () => {
    for (const other of [
      ...[{ currentReplicas: 4 }, { desiredReplicas: 6 }, { step: 'metrics-missing' }, { isScaled: true }],
      ...[{ agrees: true }, { error: 'conflict' }],
    ])
      expect(decisionRuns(decisions({}, {}, other, {})).map(({ count }) => count)).to.deep.equal([2, 1, 1]);
    expect(decisionRuns(decisions({}, { proposedReplicas: undefined }, {}))).to.have.lengthOf(1);
    expect(decisionRuns([])).to.deep.equal([]);
  });

  it('formats the step and the error where a decision was not made by metrics', () => {
    const missing = { step: 'metrics-missing', proposedReplicas: undefined, error: 'no such metric' };
    expect(formatDecisionRuns(decisions(missing, missing, {})).slice(1)).to.deep.equal([
      '11:34:15  stayed at 5, metrics propose 5',
      '11:33:45–11:34:00  2 × stayed at 5: metrics missing: no such metric',
    ]);
  });

  it('gives the date again where it changes', () => {
    const [one, other] = decisions({}, { currentReplicas: 4 });
    if (!one || !other) throw new Error('there are two');
    const later = { ...other, atMs: START_MS + 86_400_000 };
    expect(formatDecisionRuns([one, later]).map((line) => line.slice(0, 10))).to.deep.equal([
      ...['2026-01-02', '11:33:45  ', '2026-01-01', '11:33:45  '],
    ]);
  });
});
