import { expect } from 'chai';
import fc from 'fast-check';
import { goJson } from '#lib/apiserver/encoding/json.ts';
import { NodeMetrics, PodMetrics } from '#lib/resource-metrics/api/metrics-object.ts';
import { trickyTexts } from '#spec/support/json-values.ts';
import { liveNode, livePod, nodeUsage, podUsage } from '#spec/support/metrics-source.ts';

const ORIGIN = { creationTimestampMs: 0, resourceVersion: undefined };

const spans = { timestampMs: fc.nat({ max: 2 ** 42 }), windowMs: fc.nat({ max: 3_600_000 }) };
const usages = {
  cpuNanocores: fc.nat({ max: 2 ** 40 }),
  memoryBytes: fc.nat({ max: 2 ** 45 }),
  extraBytes: fc.option(fc.dictionary(trickyTexts, fc.nat(), { minKeys: 1, maxKeys: 2 }), { nil: undefined }),
};
const nodes = fc.record({ ...spans, ...usages });
const pods = fc.record({
  ...spans,
  containers: fc.array(fc.record({ name: trickyTexts, ...usages }), { maxLength: 3 }),
});

describe('NodeMetrics', () => {
  it('formats the JSON of its fields', () => {
    fc.assert(
      fc.property(nodes, (usage) => {
        const metrics = new NodeMetrics(nodeUsage('a', usage), liveNode('a'), ORIGIN);
        const { contentType, content } = metrics;
        expect(contentType.text(content)).to.equal(goJson(contentType.json(content)));
      }),
    );
  });
});

describe('PodMetrics', () => {
  it('formats the JSON of its fields', () => {
    fc.assert(
      fc.property(pods, (usage) => {
        const metrics = new PodMetrics(podUsage('n', 'a', usage), livePod('n', 'a'), ORIGIN);
        const { contentType, content } = metrics;
        expect(contentType.text(content)).to.equal(goJson(contentType.json(content)));
      }),
    );
  });
});
