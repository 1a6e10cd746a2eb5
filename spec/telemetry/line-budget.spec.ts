import { expect } from 'chai';
import { LineBudget } from '#lib/telemetry/line-budget.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const HOUR_MS = 3_600_000;

describe('LineBudget', () => {
  it('limits lines per hour, and reports skipped changes with the next line', async () => {
    const clock = new ManualClock();
    const budget = new LineBudget(clock, 2);
    expect(budget.isUntouched).to.equal(true);
    expect([budget.take(true), budget.take(false), budget.take(true), budget.take(false)]).to.deep.equal([
      {},
      {},
      undefined,
      undefined,
    ]);
    await clock.advance(HOUR_MS - 1);
    expect(budget.take(true)).to.equal(undefined);
    await clock.advance(1);
    expect(budget.isUntouched).to.equal(false);
    expect(budget.take(false)).to.deep.equal({ changesNotLogged: 2 });
    expect(budget.take(true)).to.deep.equal({});
  });

  it('counts skipped changes, and is untouched again an hour after the last line', async () => {
    const clock = new ManualClock();
    const budget = new LineBudget(clock, 2);
    budget.skip();
    expect(budget.isUntouched).to.equal(false);
    expect(budget.take(true)).to.deep.equal({ changesNotLogged: 1 });
    await clock.advance(HOUR_MS);
    expect(budget.isUntouched).to.equal(true);
  });
});
