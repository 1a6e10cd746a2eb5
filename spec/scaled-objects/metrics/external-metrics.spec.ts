import { expect } from 'chai';
import { StatusError } from '#lib/apiserver/http/status-error.ts';
import {
  formatAmount,
  formatTruncated,
  servedMetrics,
  servedValues,
} from '#lib/scaled-objects/metrics/external-metrics.ts';
import type { MetricState } from '#lib/scaled-objects/metrics/metric-state.ts';
import { compileScaledObject } from '#lib/scaled-objects/preparation/prepared-scaled-object.ts';

const ERROR = new Error('refused');
const LOST: MetricState = { kind: 'fallback', error: ERROR };
const value = (...values: number[]): MetricState => ({ kind: 'value', values, isActive: true, atMs: 5 });
const FORMULA = { scalingModifiers: { formula: 'a * 2', target: '4' } };
const FALLBACK = { failureThreshold: 1, replicas: 3 };
const object = (spec: object = {}) =>
  ({
    metadata: { namespace: 'shop', name: 'web' },
    spec: {
      scaleTargetRef: { name: 'web' },
      triggers: [{ type: 'redis', name: 'a', metadata: {} }],
      ...spec,
    },
  }) as never;

describe('servedMetrics', () => {
  const plan = { triggers: [{ metrics: [{ metricName: 's0-a' }] }, { metrics: [{ metricName: 's1-b' }] }] };
  const served = (spec: object = {}) =>
    servedMetrics(compileScaledObject(object(spec)), plan as never, () => []);

  it('are those of the triggers, found by the label of the object, or the one that a formula makes', () => {
    const [first, second] = served();
    const { values, ...rest } = first ?? {};
    expect(rest).to.deep.equal({
      ...{ namespace: 'shop', name: 's0-a', identity: 'shop/web s0-a' },
      labels: { 'scaledobject.keda.sh/name': 'web' },
    });
    expect([values?.(), second?.name]).to.deep.equal([[], 's1-b']);
    expect(served({ advanced: FORMULA }).map(({ name }) => name)).to.deep.equal(['composite-metric']);
    const broken = { scalingModifiers: { formula: 'a *', target: '4' } };
    expect(served({ advanced: broken })).to.deep.equal([]);
  });
});

describe('servedValues', () => {
  const reported = (state: MetricState, spec: object = {}, { replicas = 2, name = 's0-a' } = {}) => {
    const metric = { metricName: 's0-a', target: 5, targetType: 'AverageValue' };
    const observed = [{ trigger: { name: 'a' }, metric, state }] as never;
    const target = { replicas, readyPods: 2 };
    try {
      const values = servedValues(name, {
        prepared: compileScaledObject(object(spec)),
        observed,
        target,
        nowMs: 9,
      });
      return values.map((one) => `${one.value} at ${one.takenAtMs}`).join(', ');
    } catch (error) {
      const { code, reason, message } = error as StatusError;
      expect(error).to.be.instanceOf(StatusError);
      return `${code} ${reason} ${message}`;
    }
  };
  const failed = (name = 's0-a') => `500 InternalError metric:${name} encountered error`;

  it('are those of the source, with their times', () => {
    expect(reported(value(1.5, 2))).to.equal('1500m at 5, 2 at 5');
  });

  it('are never 0 for a failure, but an error with its cause', () => {
    expect(reported({ kind: 'pending' })).to.equal(failed());
    expect(reported({ kind: 'failing', error: ERROR })).to.equal(`${failed()}: refused`);
    expect(reported({ kind: 'failing', error: ERROR }, { fallback: FALLBACK })).to.equal(
      `${failed()}: refused`,
    );
    expect(reported(LOST)).to.equal(`${failed()}: refused`);
    expect(reported(value(1), {}, { name: 'other' })).to.equal(failed('other'));
  });

  it('are those of the fallback once that counts, as of now', () => {
    expect(reported(LOST, { fallback: FALLBACK })).to.equal('15 at 9');
    const current = { ...FALLBACK, behavior: 'currentReplicas' };
    expect(reported(LOST, { fallback: current })).to.equal('10 at 9');
  });

  it('are what the formula makes of them, as of now', () => {
    const spec = { advanced: FORMULA };
    const name = 'composite-metric';
    expect(reported(value(1.25), spec, { name })).to.equal('2500m at 9');
    expect(reported({ kind: 'pending' }, spec, { name })).to.equal(failed(name));
    expect(reported({ kind: 'failing', error: ERROR }, spec, { name })).to.equal(`${failed(name)}: refused`);
    expect(reported(LOST, { ...spec, fallback: FALLBACK }, { name })).to.equal('12 at 9');
  });
});

describe('formatAmount', () => {
  for (const [value, text] of [
    [5, '5'],
    [2.5, '2500m'],
    [0.0625, '62m'],
    [0.1875, '188m'],
    [0.0005, '1m'],
    [-1, '0'],
    [Number.NaN, '0'],
    [Number.POSITIVE_INFINITY, '0'],
    [9_007_199_254_740_991, '9007199254740991'],
    [Number.MAX_VALUE, '9223372036854775807'],
  ] as const)
    it(`writes ${value} as ${text}`, () => {
      expect(formatAmount(value)).to.equal(text);
    });
});

describe('formatTruncated', () => {
  it('truncates to thousandths', () => {
    expect([0.0629, 7.9999, -2].map(formatTruncated)).to.deep.equal(['62m', '7999m', '0']);
  });

  it('writes the greatest numbers as the greatest quantity', () => {
    for (const value of [1e19, 1e306, Number.MAX_VALUE])
      expect(formatTruncated(value)).to.equal('9223372036854775807');
  });
});
