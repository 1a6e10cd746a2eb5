import { expect } from 'chai';
import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { LabelledHistograms } from '#lib/telemetry/sliced-registry.ts';

const BUCKETS = [0.005, 0.1, 1, 2.5];
const NAME = 'request_duration_seconds';

const newHistograms = () =>
  new LabelledHistograms({ name: NAME, help: 'How long.', label: 'node', buckets: BUCKETS });
const linesOf = (text: string) => text.split('\n').filter(Boolean).sort();

describe('LabelledHistograms', () => {
  it('formats the same text as prom-client', async () => {
    const observation = fc.tuple(
      fc.constantFrom('a', 'b', 'c"\\\n'),
      fc.double({ min: 0, max: 5, noNaN: true }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(observation), async (observations) => {
        const registry = new Registry();
        const plain = new Histogram({
          name: NAME,
          help: 'How long.',
          labelNames: ['node'],
          buckets: BUCKETS,
          registers: [registry],
        });
        const histograms = newHistograms();
        for (const [node, value] of observations) {
          plain.observe({ node }, value);
          histograms.observe(node, value);
        }
        const sameOrder = (text: string) =>
          linesOf(text.replaceAll(/\{le="(.*?)",(node=".*")\}/g, '{$2,le="$1"}'));
        expect(linesOf([...histograms.slices()].join(''))).to.deep.equal(sameOrder(await registry.metrics()));
      }),
    );
  });

  it('returns slices', () => {
    const histograms = newHistograms();
    for (let node = 0; node < 1000; node++) histograms.observe(`node-${node}`, 0.02);
    const slices = [...histograms.slices()];
    expect(slices.length).to.be.above(4);
    expect(slices.join('').match(/_count\{/g)).to.have.length(1000);
    expect(slices.join('').match(/# TYPE/g)).to.have.length(1);
    for (const slice of slices) expect(slice === '' || slice.endsWith('\n')).to.equal(true);
  });

  it('removes values that are no longer live', () => {
    const histograms = newHistograms();
    for (const node of ['a', 'b']) histograms.observe(node, 1);
    histograms.retain((node) => node === 'b');
    expect([...histograms.slices()].join('')).to.not.include('"a"');
  });
});
