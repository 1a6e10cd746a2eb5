import { expect } from 'chai';
import type { MetricExplanation } from '#lib/hpa/decision/decision.ts';
import { LoadHistory } from '#lib/hpa/told/load-history.ts';

/** Metrics as far as their history looks at them. */
function metrics(ratios: Readonly<Record<string, number | undefined>>): readonly MetricExplanation[] {
  return Object.entries(ratios).map(
    ([name, ratio]) => ({ name, ...(ratio !== undefined && { proposal: { ratio } }) }) as MetricExplanation,
  );
}

describe('LoadHistory', () => {
  it('has the latest decisions, the oldest first, and nothing where a metric was unknown or not looked at', () => {
    const history = new LoadHistory(['cpu', 'queue'], 3);
    history.record(metrics({ cpu: 0.25, queue: 1 }));
    expect(history.ratiosOf(0)).to.deep.equal([0.25]);
    history.record(metrics({ cpu: 0.5, queue: undefined }));
    history.record([]);
    history.record(metrics({ cpu: 2, queue: 0 }));
    expect(history.ratiosOf(0)).to.deep.equal([0.5, undefined, 2]);
    expect(history.ratiosOf(1)).to.deep.equal([undefined, undefined, 0]);
    expect(JSON.parse(JSON.stringify(history))).to.deep.equal([
      { metric: 'cpu', ratios: [0.5, null, 2] },
      { metric: 'queue', ratios: [null, null, 0] },
    ]);
  });

  it('goes on while the metrics are the same or were not looked at, and begins again with others', () => {
    const before = LoadHistory.after(undefined, metrics({ cpu: 1 }), 3);
    before.record(metrics({ cpu: 1 }));
    expect(LoadHistory.after(before, metrics({ cpu: 2 }), 3)).to.equal(before);
    expect(LoadHistory.after(before, [], 3)).to.equal(before);
    const other = LoadHistory.after(before, metrics({ cpu: 1, queue: 1 }), 3);
    expect(other.metrics).to.deep.equal(['cpu', 'queue']);
    expect(other.ratiosOf(0)).to.deep.equal([]);
  });

  it('keeps a bounded number of metrics', () => {
    const many = metrics(Object.fromEntries(Array.from({ length: 1000 }, (_, place) => [`m${place}`, 1])));
    const history = LoadHistory.after(undefined, many, 3);
    history.record(many);
    expect(history.metrics).to.have.lengthOf(20);
    expect(LoadHistory.after(history, many, 3)).to.equal(history);
  });
});
