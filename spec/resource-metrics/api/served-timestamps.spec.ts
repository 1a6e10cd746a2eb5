import { expect } from 'chai';
import fc from 'fast-check';
import { select, selectedObjects } from '#lib/apiserver/resources/selection.ts';
import { NodeMetrics } from '#lib/resource-metrics/api/metrics-object.ts';
import { countSelectedTimestamps, type Timestamped } from '#lib/resource-metrics/api/served-timestamps.ts';
import { liveNode, nodeUsage } from '#spec/support/metrics-source.ts';

const ORIGIN = { creationTimestampMs: 0, resourceVersion: undefined };

const objects = fc
  .nat({ max: 5 })
  .map((second) => new NodeMetrics(nodeUsage('a', { timestampMs: second * 1000 }), liveNode('a'), ORIGIN));
const blocks = fc.array(
  fc.oneof(fc.array(objects, { maxLength: 5 }), fc.array(objects, { minLength: 100, maxLength: 120 })),
  { maxLength: 3 },
);

describe('countSelectedTimestamps', () => {
  it('counts the same as a visit of every selected object, for whole blocks and parts', () => {
    fc.assert(
      fc.property(blocks, fc.nat({ max: 5 }), (all, second) => {
        const isLater = (object: object) => (object as Timestamped).usage.timestampMs > second * 1000;
        for (const selection of [select(all), select(all, isLater), select(all)]) {
          const plain = new Map<number, number>();
          for (const { usage } of selectedObjects(selection) as readonly Timestamped[])
            plain.set(usage.timestampMs, (plain.get(usage.timestampMs) ?? 0) + 1);
          const counts = countSelectedTimestamps(selection as Parameters<typeof countSelectedTimestamps>[0]);
          expect(new Map(counts)).to.deep.equal(plain);
        }
      }),
    );
  });
});
