import { expect } from 'chai';
import { ceilReplicas, toInt32, toInt64 } from '#lib/hpa/quantities/go-integers.ts';

const MOST_REPLICAS = 2_147_483_647;

describe('toInt64 and toInt32', () => {
  it('wrap around', () => {
    expect(toInt64(2n ** 63n)).to.equal(-(2n ** 63n));
    expect(toInt64(-5n)).to.equal(-5n);
    expect(toInt32(2n ** 31n)).to.equal(-(2 ** 31));
    expect(toInt32(2n ** 32n + 7n)).to.equal(7);
  });
});

describe('ceilReplicas', () => {
  it('rounds up, and makes no negative zero', () => {
    expect(ceilReplicas(2.000001)).to.equal(3);
    expect(ceilReplicas(-2.5)).to.equal(-2);
    expect(Object.is(ceilReplicas(-0.5), 0)).to.equal(true);
  });

  it('knows no count beyond 32 bits', () => {
    expect(ceilReplicas(MOST_REPLICAS)).to.equal(MOST_REPLICAS);
    expect(ceilReplicas(-MOST_REPLICAS - 1)).to.equal(-MOST_REPLICAS - 1);
    for (const replicas of [MOST_REPLICAS + 0.5, -MOST_REPLICAS - 2, Infinity, -Infinity, Number.NaN]) {
      expect(ceilReplicas(replicas), `${replicas}`).to.equal(undefined);
    }
  });
});
