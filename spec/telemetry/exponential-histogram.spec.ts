import { expect } from 'chai';
import fc from 'fast-check';
import { exponentialBuckets, Histogram, Registry } from 'prom-client';
import { ExponentialHistogram } from '#lib/telemetry/sliced-registry.ts';

const OPTIONS = { name: 'freshness_seconds', help: 'How old.', start: 1, factor: 1.364, buckets: 20 };
const BOUNDS = exponentialBuckets(OPTIONS.start, OPTIONS.factor, OPTIONS.buckets);

const linesOf = (text: string) => text.split('\n').filter(Boolean);

describe('ExponentialHistogram', () => {
  it('formats the same text as prom-client, including values at bounds', async () => {
    const value = fc.oneof(fc.double({ min: 0, max: 1000, noNaN: true }), fc.constantFrom(0, ...BOUNDS));
    await fc.assert(
      fc.asyncProperty(fc.array(value), async (values) => {
        const registry = new Registry();
        const { name, help } = OPTIONS;
        const plain = new Histogram({ name, help, buckets: BOUNDS, registers: [registry] });
        const histogram = new ExponentialHistogram(OPTIONS);
        for (const each of values) {
          plain.observe(each);
          histogram.observe(each);
        }
        expect(linesOf([...histogram.slices()].join(''))).to.deep.equal(linesOf(await registry.metrics()));
      }),
    );
  });

  it('observes one value several times', () => {
    const [once, often] = [new ExponentialHistogram(OPTIONS), new ExponentialHistogram(OPTIONS)];
    for (let time = 0; time < 3; time++) often.observe(2);
    once.observe(2, 3);
    expect([...once.slices()]).to.deep.equal([...often.slices()]);
  });
});
