import { expect } from 'chai';
import { MetricFailure } from '#lib/hpa/proposals/metric-failure.ts';
import { utilizationMeasure } from '#lib/hpa/proposals/utilization.ts';

const byPod = (values: Readonly<Record<string, number | bigint>>) =>
  new Map(Object.entries(values).map(([pod, value]) => [pod, BigInt(value)]));

describe('utilizationMeasure', () => {
  const requests = byPod({ a: 100, b: 200, c: 50 });

  it('divides all usage by all requests, and rounds percent down', () => {
    expect(utilizationMeasure(requests, 50).measure(byPod({ a: 100, b: 101 }))).to.deep.equal({
      ...{ ratio: 67 / 50, average: 100n, utilization: 67 },
    });
  });

  it('leaves strangers out', () => {
    expect(utilizationMeasure(requests, 50).measure(byPod({ a: 10, stranger: 9999 }))).to.deep.equal({
      ...{ ratio: 0.2, average: 10n, utilization: 10 },
    });
  });

  it('fails without anything that is requested', () => {
    const failure = 'no metrics returned matched known pods';
    expect(() => utilizationMeasure(requests, 50).measure(byPod({ x: 1 }))).to.throw(MetricFailure, failure);
    expect(() => utilizationMeasure(byPod({ a: 0 }), 50).measure(byPod({ a: 1 }))).to.throw(failure);
  });

  it('wraps around where 64 and 32 bits end', () => {
    const many = utilizationMeasure(byPod({ a: 1 }), 100).measure(byPod({ a: 2 ** 31 }));
    expect(many.utilization).to.equal(0); // 2^31 * 100 is a multiple of 2^32
    const more = utilizationMeasure(byPod({ a: 2n ** 40n }), 100).measure(byPod({ a: 2n ** 62n }));
    expect(more.utilization).to.equal(0); // 2^62 * 100 is a multiple of 2^64
  });

  it('assumes all of the request, or the target beyond it, of a missing pod going down, and nothing going up', () => {
    expect(utilizationMeasure(requests, 50).assumedOfMissing('b', 0.9)).to.equal(200n);
    expect(utilizationMeasure(requests, 150).assumedOfMissing('c', 0.9)).to.equal(75n);
    expect(utilizationMeasure(requests, 50).assumedOfMissing('b', 1.1)).to.equal(0n);
    expect(utilizationMeasure(requests, 50).assumedOfMissing('b', 1)).to.equal(undefined);
  });
});
