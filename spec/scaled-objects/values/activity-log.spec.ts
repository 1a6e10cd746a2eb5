import { expect } from 'chai';
import { ActivityLog } from '#lib/scaled-objects/values/activity-log.ts';
import type { MetricState } from '#lib/scaled-objects/values/metric-state.ts';

describe('ActivityLog', () => {
  it('knows since when a metric is active or not, through times when it is unknown, until it is gone', () => {
    const log = new ActivityLog();
    const note = (states: Readonly<Record<string, MetricState>>, atMs: number) =>
      log.note(
        Object.entries(states).map(([metricName, state]) => ({ metric: { metricName }, state })) as never,
        atMs,
      );
    const value = (isActive: boolean): MetricState => ({ kind: 'value', values: [1], isActive, atMs: 0 });
    note({ a: value(true), b: { kind: 'pending' } }, 1000);
    expect([log.of('a'), log.of('b')]).to.deep.equal([{ isActive: true, sinceMs: 1000 }, undefined]);
    note({ a: value(true), b: value(false) }, 2000);
    note({ a: { kind: 'failing', error: new Error('no') }, b: value(false) }, 3000);
    expect([log.of('a'), log.of('b')]).to.deep.equal([
      { isActive: true, sinceMs: 1000 },
      { isActive: false, sinceMs: 2000 },
    ]);
    note({ a: value(false) }, 4000);
    expect([log.of('a'), log.of('b')]).to.deep.equal([{ isActive: false, sinceMs: 4000 }, undefined]);
  });
});
