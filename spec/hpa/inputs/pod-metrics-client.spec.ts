import { expect } from 'chai';
import fc from 'fast-check';
import * as z from 'zod';
import {
  type LabelledUsage,
  NamespaceUsage,
  podMetricsList,
  UsageList,
} from '#lib/hpa/inputs/pod-metrics-client.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { parseDurationMs } from '#lib/time/duration.ts';
import { refusal, startJsonApi } from '#spec/support/json-api.ts';

const SIGNAL = new AbortController().signal;

describe('NamespaceUsage', () => {
  it('requests once for all callers within their maximum age', async () => {
    await using api = await startJsonApi(() => ({ items: [] }));
    const usage = new NamespaceUsage({ client: api.api, clock: api.clock });
    const request = (namespace: string, maxAgeMs: number) =>
      usage.read(namespace, { maxAgeMs, signal: SIGNAL });
    await Promise.all([request('a', 1000), request('a', 1000), request('b', 1000)]);
    await api.clock.advance(999);
    await request('a', 1000);
    expect(api.requested).to.have.lengthOf(2);
    await request('a', 500);
    expect(api.requested).to.have.lengthOf(3);
    await api.clock.advance(1000);
    await request('a', 1000);
    expect(api.requested).to.have.lengthOf(4);
  });

  it('does not cache failures', async () => {
    let isUp = false;
    await using api = await startJsonApi(() => (isUp ? { items: [] } : refusal(503, 'Unavailable')));
    const usage = new NamespaceUsage({ client: api.api, clock: api.clock });
    const request = () => usage.read('a', { maxAgeMs: 1000, signal: SIGNAL }).catch(String);
    expect(await request()).to.contain('Unavailable');
    isUp = true;
    expect(await request()).to.be.instanceOf(UsageList);
  });

  it('reads ten megabytes of samples, and rejects more than its limit', async () => {
    const labels = { app: 'web', filler: 'x'.repeat(63) };
    const items = Array.from({ length: 40_000 }, (_, index) => ({
      ...{ metadata: { name: `web-${index}`, labels }, timestamp: '2026-01-01T00:00:00Z', window: '15s' },
      ...{ containers: [{ name: 'app', usage: { cpu: '123456789n', memory: '123456Ki' } }] },
    }));
    const megabytes = Math.ceil(JSON.stringify(items).length / 1e6);
    await using api = await startJsonApi(({ url }) => ({
      items: url.pathname.includes('/long/') ? Array.from({ length: 4 }, () => items).flat() : items,
    }));
    const usage = new NamespaceUsage({ client: api.api, clock: api.clock });
    expect(megabytes).to.be.above(10);
    const request = (namespace: string) => usage.read(namespace, { maxAgeMs: 1000, signal: SIGNAL });
    expect((await request('well')).size).to.equal(40_000);
    expect(await request('long').catch(describeError)).to.equal(
      'Cannot get /apis/metrics.k8s.io/v1beta1/namespaces/long/pods: response has more than 33554432 bytes',
    );
  });
});

describe('UsageList', () => {
  const sample = (pod: string, labels?: Readonly<Record<string, string>>) => ({
    ...{ pod, labels, takenAtMs: 0, windowMs: 1, containers: [] },
  });

  it('finds the same by a label as by a full scan', () => {
    const all = [
      sample('a', { app: 'web', tier: 'x' }),
      sample('b', { app: 'web' }),
      sample('c', { app: 'db', tier: 'x' }),
      sample('d'),
    ];
    const names = (selector: string, pods: readonly string[] = []) =>
      new UsageList(all)
        .select(
          parseLabelSelector(selector),
          pods.map((name) => ({ name })),
        )
        .map(({ pod }) => pod);
    expect(names('app=web')).to.deep.equal(['a', 'b']);
    expect(names('app=web,tier in (x)')).to.deep.equal(['a']);
    expect(names('app in (web,db),tier')).to.deep.equal(['a', 'c']);
    expect(names('app!=web')).to.deep.equal(['c']);
    expect(names('app=web', ['d'])).to.deep.equal(['a', 'b', 'd']);
    expect(names('app=constructor')).to.deep.equal([]);
  });
});

const POD_METRICS = z.object({
  metadata: z.object({ name: z.string(), labels: z.record(z.string(), z.string()).optional() }),
  timestamp: z.string(),
  window: z.string(),
  containers: z
    .array(z.object({ name: z.string(), usage: z.record(z.string(), z.string()).nullish() }))
    .nullish(),
});

/** Decodes an item by a schema. */
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
  it('decodes the same as a schema', () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 4 }), (items) => {
        const sent: unknown[] = JSON.parse(JSON.stringify(items)); // as in a response
        expect(podMetricsList({ items: sent })).to.deep.equal(sent.flatMap((one) => plainly(one) ?? []));
      }),
      { numRuns: 300 },
    );
  });

  it('takes time linear in the number of pods', () => {
    const listOf = (count: number) => ({
      items: Array.from({ length: count }, (_, index) => ({
        ...{ metadata: { name: `web-${index}`, labels: { app: 'web' } }, timestamp: '2026-01-01T00:00:00Z' },
        ...{ window: `${index}s`, containers: [{ name: 'app', usage: { cpu: '5m' } }] },
      })),
    });
    const read = podMetricsList(listOf(20_000));
    expect(read).to.have.lengthOf(20_000);
    expect(read.at(-1)).to.deep.include({ pod: 'web-19999', windowMs: 19_999_000 });
  });
});
