import { expect } from 'chai';
import fc from 'fast-check';
import * as z from 'zod/mini';
import { type LabelledUsage, podMetricsList } from '#lib/hpa/readings/pod-metrics-list.ts';
import { parseDurationMs } from '#lib/time/duration.ts';

const POD_METRICS = z.object({
  metadata: z.object({ name: z.string(), labels: z.optional(z.record(z.string(), z.string())) }),
  timestamp: z.string(),
  window: z.string(),
  containers: z.nullish(
    z.array(z.object({ name: z.string(), usage: z.nullish(z.record(z.string(), z.string())) })),
  ),
});

/** The same, by a schema. */
function plainly(item: unknown): LabelledUsage | undefined {
  const read = POD_METRICS.safeParse(item);
  if (!read.success) return undefined;
  const { metadata, timestamp, window, containers } = read.data;
  const takenAtMs = Date.parse(timestamp);
  const windowMs = parseDurationMs(window);
  if (Number.isNaN(takenAtMs) || windowMs === undefined) return undefined;
  return {
    ...{ pod: metadata.name, labels: metadata.labels, takenAtMs, windowMs },
    containers: (containers ?? []).map(({ name, usage }) => ({ name, usage: usage ?? {} })),
  };
}

const odd = fc.oneof(
  fc.constant(null),
  fc.constant(undefined),
  fc.integer(),
  fc.constant([]),
  fc.constant(['a']),
);
const mostly = <Value>(usual: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: odd });
const texts = fc.dictionary(
  fc.constantFrom('app', 'cpu', 'constructor', ''),
  mostly(fc.string({ maxLength: 4 })),
  {
    noNullPrototype: true,
  },
);
const item = mostly(
  fc.record(
    {
      metadata: mostly(
        fc.record(
          { name: mostly(fc.string()), labels: mostly(texts) },
          { noNullPrototype: true, requiredKeys: ['name'] },
        ),
      ),
      timestamp: mostly(
        fc.constantFrom('2026-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '0001-01-01T00:00:00Z', 'soon'),
      ),
      window: mostly(fc.constantFrom('30s', '1m0.5s', '-5s', '', 'long', '1h'.repeat(1000))),
      containers: mostly(
        fc.array(
          mostly(
            fc.record(
              { name: mostly(fc.string()), usage: mostly(texts) },
              { noNullPrototype: true, requiredKeys: ['name'] },
            ),
          ),
          { maxLength: 3 },
        ),
      ),
    },
    { noNullPrototype: true, requiredKeys: ['metadata', 'timestamp', 'window'] },
  ),
);

describe('podMetricsList', () => {
  it('reads whatever a schema reads, and leaves out the same', () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 4 }), (items) => {
        const sent: unknown[] = JSON.parse(JSON.stringify(items)); // as it comes
        expect(podMetricsList({ items: sent })).to.deep.equal(sent.flatMap((one) => plainly(one) ?? []));
      }),
      { numRuns: 300 },
    );
  });

  it('reads lists of tens of thousands of pods in a time that grows as they do', () => {
    const listOf = (count: number) => ({
      items: Array.from({ length: count }, (_, place) => ({
        ...{ metadata: { name: `web-${place}`, labels: { app: 'web' } }, timestamp: '2026-01-01T00:00:00Z' },
        ...{ window: `${place}s`, containers: [{ name: 'app', usage: { cpu: '5m' } }] },
      })),
    });
    const read = podMetricsList(listOf(20_000));
    expect(read).to.have.lengthOf(20_000);
    expect(read.at(-1)).to.deep.include({ pod: 'web-19999', windowMs: 19_999_000 });
  });
});
