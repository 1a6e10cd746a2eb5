import { expect } from 'chai';
import fc from 'fast-check';
import { decide } from '#lib/hpa/decision/decide.ts';
import { metricThresholds } from '#lib/hpa/explain/metric-thresholds.ts';
import { parseThousandths } from '#lib/kubernetes/exact-quantity.ts';
import { builtInput } from '../built-world.ts';

/** The explanation of an external metric per replica, of three. */
function explanationOf(averageThousandths: number, targetThousandths: number) {
  const averageValue = `${targetThousandths}m`;
  const { explanation } = decide(
    builtInput({
      spec: {
        maxReplicas: 100_000,
        metrics: [
          {
            type: 'External',
            external: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue } },
          },
        ],
      },
      readings: [{ values: [`${averageThousandths * 3}m`] }],
    }),
  );
  return explanation.metrics[0] ?? expect.fail('no metric');
}

describe('metricThresholds', () => {
  it('are where the metric begins to ask for another number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 1, max: 2000 }), (average, target) => {
        const metric = explanationOf(average, target);
        const thresholds = metricThresholds(metric) ?? expect.fail('no thresholds');
        const isInside =
          BigInt(average) <= parseThousandths(thresholds.scalesUpAbove) &&
          BigInt(average) >= parseThousandths(thresholds.scalesDownBelow);
        expect(metric.proposal?.why === 'within-tolerance').to.equal(isInside);
      }),
    );
  });

  it('are none where nothing was proposed', () => {
    const { proposal: _, ...metric } = explanationOf(1, 1);
    expect(metricThresholds(metric)).to.equal(undefined);
  });
});
