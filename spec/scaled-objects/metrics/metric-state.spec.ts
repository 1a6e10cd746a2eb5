import { expect } from 'chai';
import { ActivityLog, type MetricState, observeMetrics } from '#lib/scaled-objects/metrics/metric-state.ts';
import type { Sample } from '#lib/sources/sample.ts';

const error = new Error('connection refused');
const FALLBACK = { failureThreshold: 3, replicas: 2 };

describe('observeMetrics', () => {
  it('has the values of a source, with their own time or that of the response', () => {
    const value = { kind: 'value', values: [7], isActive: true };
    expect(state({ samples: [sample(7)] })).to.deep.equal({ ...value, atMs: 9_000 });
    const timed = [{ ...sample(7), takenAtMs: 8_000 }];
    expect(state({ samples: timed })).to.deep.equal({ ...value, atMs: 8_000 });
  });

  it('is pending before the first response', () => {
    expect(state({})).to.deep.equal({ kind: 'pending' });
  });

  it('fails with its source, even after earlier responses', () => {
    expect(state({ samples: [sample(7)], failure: error })).to.deep.equal({ kind: 'failing', error });
  });

  it('fails if the samples cannot be evaluated', () => {
    expect(state({ samples: [] })).to.deep.equal({ kind: 'failing', error: new Error('no value') });
  });

  for (const [failures, kind] of [
    [undefined, 'failing'],
    [3, 'failing'],
    [4, 'fallback'],
  ] as const)
    it(`is ${kind} after ${failures ?? 'no'} failures of 3 that are borne`, () => {
      const health =
        failures === undefined ? {} : { 's0-a': { numberOfFailures: failures, status: 'Failing' } };
      for (const reported of [{ failure: error }, { samples: [] }])
        expect(state({ ...reported, health, fallback: FALLBACK }).kind).to.equal(kind);
      expect(state({ failure: error, health }).kind).to.equal('failing');
    });

  it('reports pushed triggers, by default none', () => {
    const isPushed = ({ index }: { readonly index: number }) => index === 1;
    const pushed = (more: object) => observed(more).map((one) => one.isPushed);
    expect(pushed({ isPushed })).to.deep.equal([false, true]);
    expect(pushed({})).to.deep.equal([false, false]);
  });
});

interface Reported {
  readonly samples?: readonly Sample[];
  readonly failure?: Error;
  readonly health?: object;
  readonly fallback?: typeof FALLBACK;
}

function sample(value: number): Sample {
  return { value, labels: {} };
}

/** The state of one of two triggers with a metric each. */
function state(reported: Reported) {
  const [first] = observed(reported);
  if (!first) throw new Error('there are two');
  return first.state;
}

function observed({ samples, failure, health, fallback, ...more }: Reported) {
  const evaluate = (found: readonly Sample[]) => {
    if (found.length === 0) throw new Error('no value');
    return { values: found.map(({ value }) => value), isActive: true };
  };
  const triggers = ['s0-a', 's1-b'].map((metricName, index) => ({
    index,
    metrics: [{ metricName, evaluate }],
  }));
  return observeMetrics({ triggers } as never, {
    owner: 'default/web',
    collection: {
      failure: (owner, name) =>
        failure && owner === 'default/web' && name === 's0-a' ? { error: failure, sinceMs: 0 } : undefined,
      reading: (owner, name) =>
        samples && owner === 'default/web' && name === 's0-a'
          ? { samples, receivedAtMs: 9_000, notes: [] }
          : undefined,
    } as Parameters<typeof observeMetrics>[1]['collection'],
    ...{ fallback, health: health as never, ...more },
  });
}

describe('ActivityLog', () => {
  it('records since when a metric is active or inactive, also while it is unknown, until it is removed', () => {
    const log = new ActivityLog();
    const note = (states: Readonly<Record<string, MetricState>>, atMs: number) =>
      log.record(
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
