import { expect } from 'chai';
import { HeardStates } from '#lib/scaled-objects/plan/heard-states.ts';
import type { MetricState, ObservedMetric } from '#lib/scaled-objects/values/metric-state.ts';

const value = (isActive: boolean, ...values: number[]): MetricState => ({
  ...{ kind: 'value', values, isActive, atMs: 0 },
});
const observed = (state: MetricState): readonly ObservedMetric[] => [
  { state, isPushed: false, metric: { metricName: 's0-queue' }, trigger: {} } as unknown as ObservedMetric,
];

describe('HeardStates', () => {
  it('tells what is confirmed from what changes', () => {
    const heard = new HeardStates();
    const confirms = (state: MetricState, monotonicMs: number, countsValues = false) => {
      const isActive = state.kind === 'value' && state.isActive;
      return heard.confirms('n/web', observed(state), { monotonicMs, countsValues, isActive });
    };
    expect(confirms({ kind: 'pending' }, 1)).to.equal(false);
    expect(heard.lastActiveAtMs('n/web')).to.equal(undefined);
    expect(confirms(value(true, 7), 2)).to.equal(false);
    expect(heard.lastActiveAtMs('n/web')).to.equal(2);
    expect(confirms(value(true, 8), 3)).to.equal(true);
    expect(confirms(value(false, 0), 4)).to.equal(false);
    expect(confirms(value(false, 0), 4)).to.equal(true);
    expect(heard.lastActiveAtMs('n/web')).to.equal(3); // that nothing is to be done is no activity
    expect(confirms(value(false, 0), 5, true)).to.equal(false);
    expect(confirms(value(false, 1), 6, true)).to.equal(false);
    expect(confirms(value(false, 1), 7, true)).to.equal(true);
    heard.forget('n/web');
    expect(heard.lastActiveAtMs('n/web')).to.equal(undefined);
  });

  it('tells that a push begins and ends to count', () => {
    const heard = new HeardStates();
    const confirms = (isPushed: boolean) =>
      heard.confirms(
        'n/web',
        observed(value(false, 0)).map((one) => ({ ...one, isPushed })),
        { monotonicMs: 1, countsValues: false, isActive: isPushed },
      );
    expect([false, false, true, true, false].map(confirms)).to.deep.equal([false, true, false, true, false]);
  });

  it('confirms no failure: each is counted', () => {
    const heard = new HeardStates();
    const failing: MetricState = { kind: 'failing', error: new Error('gone') };
    const confirms = (state: MetricState) =>
      heard.confirms('n/web', observed(state), { monotonicMs: 1, countsValues: false, isActive: false });
    expect([confirms(failing), confirms(failing)]).to.deep.equal([false, false]);
    expect([confirms(value(true, 1)), confirms(failing), confirms(value(true, 1))]).to.deep.equal([
      false,
      false,
      false,
    ]);
  });
});
