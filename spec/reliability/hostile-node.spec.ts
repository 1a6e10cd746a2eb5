import { expect } from 'chai';
import fc from 'fast-check';
import type { ResponseBody } from '#lib/apiserver/http/response-body.ts';
import type { ObjectResource } from '#lib/apiserver/resources/api-group.ts';
import { encodeList } from '#lib/apiserver/resources/encode-list.ts';
import { select } from '#lib/apiserver/resources/selection.ts';
import type { ServedObject } from '#lib/apiserver/resources/served-object.ts';
import { TimeSlices } from '#lib/concurrency/event-loop.ts';
import { metricsApiGroup } from '#lib/resource-metrics/api/metrics-api-group.ts';
import type { MetricsBatch } from '#lib/resource-metrics/metrics-batch.ts';
import type { TimedResponseOrigin } from '#lib/resource-metrics/scrape/decoding/complete-pod.ts';
import { kubeletEndpoints } from '#lib/resource-metrics/scrape/endpoint-choice.ts';
import { MetricsSink } from '#lib/resource-metrics/sink/metrics-sink.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { liveNode, livePod } from '#spec/support/metrics-source.ts';
import { at } from '#spec/support/points.ts';

const RESOLUTION_MS = 15_000;
const CYCLES = 4;
const GOOD_NODES = ['good-0', 'good-1'];
const FORMATS = [
  { format: 'json', isPretty: false },
  { format: 'json', isPretty: true },
  { format: 'protobuf', isPretty: false },
  { format: 'yaml', isPretty: false },
] as const;
const { summary, resource } = kubeletEndpoints(new Set(['swap', 'ephemeral-storage']));

/** The response of the hostile kubelet in one cycle, and its position. */
interface FalseReport {
  readonly endpoint: typeof summary;
  readonly text: string;
  /** Whether its response arrives before the others. */
  readonly isFirst: boolean;
}

const secondsOf = (cycle: number) => cycle * 15;
const stampOf = (seconds: number) => new Date(at(seconds)).toISOString().replace('.000', '');

const number = fc.oneof(
  fc.nat(),
  fc.maxSafeNat(),
  fc.double(),
  fc.constantFrom(1e300, 2 ** 63, 2 ** 64, 9e18, -1, 0.5, 6.4e10, 1_000_000_000_000),
);
const time = fc.oneof(
  fc.integer({ min: -100, max: 200 }).map(stampOf),
  fc.constantFrom(
    ...[
      '+200000-01-01T00:00:00Z',
      '9999-12-31T23:59:59Z',
      '9999-12-31T23:59:59-23:00',
      '1970-01-01T00:00:00Z',
    ],
    ...['0001-01-01T00:00:00Z', '5', '2026-11-21T09:00:00', '', 'x'],
  ),
);
const name = fc.oneof(
  fc.constantFrom(
    'web-0',
    'web-1',
    'evil',
    'app',
    'default',
    'a/b',
    '__proto__',
    '\u2028',
    '\ud800',
    '"',
    '\0',
  ),
  fc.string(),
);
/** It has the names of other nodes' pods, but not their UIDs. */
const uid = fc.constantFrom(undefined, '', 'uid-evil', 'uid-guessed');
const or = <T>(usual: fc.Arbitrary<T>) =>
  fc.oneof(
    { arbitrary: usual as fc.Arbitrary<unknown>, weight: 15 },
    { arbitrary: fc.jsonValue(), weight: 1 },
  );
const record = (model: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  fc.record(Object.fromEntries(Object.entries(model).map(([key, value]) => [key, or(value)])), {
    requiredKeys: Object.keys(model).slice(0, 1),
  });
const used = record({ usedBytes: number });
const stats = {
  cpu: record({ time, usageCoreNanoSeconds: number, usageNanoCores: number }),
  memory: record({ workingSetBytes: number, time }),
  startTime: time,
  ...{ swap: record({ swapUsageBytes: number }), rootfs: used, logs: used, fs: used },
};
const lyingSummary = record({
  pods: fc.array(
    or(
      record({
        podRef: record({ name, namespace: fc.constantFrom('default', 'n', ''), uid }),
        containers: fc.array(or(record({ name, ...stats })), { maxLength: 3 }),
      }),
    ),
    { maxLength: 4 },
  ),
  node: record({ nodeName: fc.constantFrom('evil', 'good-0', ''), ...stats }),
}).map((contents) => JSON.stringify(contents));
const sample = fc
  .record({
    series: fc.constantFrom(
      ...['container_cpu_usage_seconds_total', 'container_memory_working_set_bytes'],
      ...['container_start_time_seconds', 'container_swap_usage_bytes', 'node_cpu_usage_seconds_total'],
      'node_memory_working_set_bytes',
    ),
    pod: fc.constantFrom('web-0', 'web-1', 'evil'),
    value: fc.oneof(number.map(String), fc.constantFrom('NaN', '+Inf', '1.79e18')),
    stamp: fc.oneof(
      fc.integer({ min: -100, max: 200 }).map((seconds) => ` ${at(seconds)}`),
      fc.constantFrom('', ' 1795251662066000000', ' -1', ' 0', ' 253402300800000', ' x'),
    ),
  })
  .map(({ series, pod, value, stamp }) => {
    const labels = series.startsWith('node') ? '' : `{container="app",namespace="default",pod="${pod}"}`;
    return `${series}${labels} ${value}${stamp}\n`;
  });
const lyingExposition = fc.array(sample, { maxLength: 12 }).map((lines) => lines.join(''));
const falseReport: fc.Arbitrary<FalseReport> = fc
  .tuple(
    fc.oneof(
      lyingSummary.map((text) => ({ endpoint: summary, text })),
      lyingExposition.map((text) => ({ endpoint: resource, text })),
      fc.string().map((text) => ({ endpoint: summary, text })),
    ),
    fc.boolean(),
  )
  .map(([message, isFirst]) => ({ ...message, isFirst }));

/** The response of a kubelet that runs one pod. */
function report({
  nodeName,
  pod,
  uid: podUid,
  takenAtSeconds,
  milliCores,
}: {
  readonly nodeName: string;
  readonly pod: string;
  readonly uid: string | undefined;
  readonly takenAtSeconds: number;
  readonly milliCores: number;
}): string {
  const time = stampOf(takenAtSeconds);
  const usage = (startSeconds: number, usedMilliCores: number) => ({
    startTime: stampOf(startSeconds),
    cpu: { time, usageCoreNanoSeconds: (takenAtSeconds - startSeconds) * usedMilliCores * 1e6 },
    memory: { time, workingSetBytes: 25_640_960 },
  });
  const podRef = { name: pod, namespace: 'default', uid: podUid };
  const pods = [{ podRef, containers: [{ name: 'app', ...usage(-3600, milliCores) }] }];
  return JSON.stringify({ node: { nodeName, ...usage(-86_400, 400) }, pods });
}

/** A healthy node's pod uses 50 millicores. */
function truth(nodeName: string, seconds: number): string {
  const pod = nodeName.replace('good', 'web');
  return report({ nodeName, pod, uid: `uid-${pod}`, takenAtSeconds: seconds - 3, milliCores: 50 });
}

/** Reports in each cycle another node's pod with a usage of 64 cores. */
const impostor: fc.Arbitrary<readonly FalseReport[]> = fc
  .record({
    pod: fc.constantFrom('web-0', 'web-1'),
    uid,
    aheadSeconds: fc.integer({ min: -9, max: 20 }),
    isFirst: fc.boolean(),
  })
  .map(({ pod, uid: podUid, aheadSeconds, isFirst }) =>
    Array.from({ length: CYCLES }, (_, cycle) => {
      const takenAtSeconds = secondsOf(cycle) + aheadSeconds;
      const text = report({ nodeName: 'evil', pod, uid: podUid, takenAtSeconds, milliCores: 64_000 });
      return { endpoint: summary, text, isFirst };
    }),
  );
const anyFalseReports = fc.oneof(
  { arbitrary: fc.array(falseReport, { minLength: CYCLES, maxLength: CYCLES }), weight: 4 },
  { arbitrary: impostor, weight: 1 },
);

/** The resources after some cycles, in each of which the hostile node may send a response. */
async function resourcesAfter(
  falseReports: readonly (FalseReport | undefined)[],
): Promise<readonly ObjectResource[]> {
  const clock = new ManualClock(at(0));
  const nodes = new Map([...GOOD_NODES, 'evil'].map((each) => [each, liveNode(each)]));
  const pods = new Map(
    ['web-0', 'web-1', 'evil'].map((each) => [`default/${each}`, livePod('default', each)]),
  );
  const livePodUid = (key: string) => pods.get(key)?.uid;
  const sink = new MetricsSink({ clock, livePodUid, resolutionMs: RESOLUTION_MS, stalenessMs: 25_000 });
  const receive = (nodeName: string, read: (origin: TimedResponseOrigin) => MetricsBatch) => {
    const [nowMs, receivedAtWallMs] = [clock.monotonicMs(), clock.nowMs()];
    try {
      const times = { requestedAtMs: nowMs, respondedAtMs: nowMs, receivedAtMs: nowMs };
      sink.receive(read({ nodeName, ...times, receivedAtWallMs }));
    } catch {
      sink.recordFailure(nodeName);
    }
  };
  for (const [cycle, message] of falseReports.entries()) {
    const receiveFalseReport = () =>
      message && receive('evil', (origin) => message.endpoint.decode(Buffer.from(message.text), origin));
    sink.beginCycle();
    if (message?.isFirst) receiveFalseReport();
    for (const node of GOOD_NODES)
      receive(node, (origin) => summary.decode(Buffer.from(truth(node, secondsOf(cycle))), origin));
    if (!message?.isFirst) receiveFalseReport();
    sink.publish();
    await clock.advance(RESOLUTION_MS);
  }
  const group = metricsApiGroup({
    snapshot: () => sink.snapshot,
    nodes: { isSynced: true, revision: 1, get: (key) => nodes.get(key), values: () => nodes.values() },
    pods: {
      ...{ isSynced: true, revision: 1, find: (key: string) => pods.get(key), values: () => pods.values() },
      get: (namespace, pod) => pods.get(`${namespace}/${pod}`),
    },
    extraResources: ['swap', 'ephemeral-storage'],
  });
  return (group.versions[0]?.resources() ?? []) as readonly ObjectResource[];
}

/** All lists in every format, filtered by name or complete. */
async function listsOf(
  resources: readonly ObjectResource[],
  isWanted?: (object: ServedObject) => boolean,
): Promise<string[]> {
  const lists: string[] = [];
  const slices = new TimeSlices();
  const request = { query: new URLSearchParams(), signal: () => new AbortController().signal, slices };
  for (const resource of resources) {
    const batches = await resource.list(undefined, slices);
    for (const encoding of FORMATS) {
      const selection = select(batches, isWanted);
      const list = { group: 'metrics.k8s.io', version: 'v1beta1', resource, metadata: {}, selection };
      const body = await encodeList(list, { ...encoding, conversion: undefined }, request);
      lists.push(bytesOf(body).toString('latin1'));
    }
  }
  return lists;
}

const bytesOf = ({ pieces }: ResponseBody) => Buffer.concat(pieces);
const isGood = ({ name: each }: ServedObject) => /^(good|web)-[01]$/.test(each);

describe('one hostile node', () => {
  it('does not change the served metrics of other nodes, and breaks no list', async () => {
    const honest = await listsOf(await resourcesAfter(Array(CYCLES).fill(undefined)), isGood);
    expect(honest[0]).to.include('"good-1"');
    expect(honest[4]).to.include('"web-1"').and.include('"cpu":"50m"');
    await fc.assert(
      fc.asyncProperty(anyFalseReports, async (falseReports) => {
        const resources = await resourcesAfter(falseReports);
        expect(await listsOf(resources, isGood)).to.deep.equal(honest);
        for (const [index, text] of (await listsOf(resources)).entries()) {
          if (FORMATS[index % FORMATS.length]?.format !== 'json') continue;
          for (const item of JSON.parse(Buffer.from(text, 'latin1').toString()).items) expectReadable(item);
        }
      }),
      { numRuns: 300 },
    );
  });
});

/** Asserts that any Kubernetes client can read the item. */
function expectReadable(item: {
  timestamp: string;
  window: string;
  usage?: Record<string, string>;
  containers?: { usage: Record<string, string> }[];
}): void {
  expect(item.timestamp).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  expect(item.window).to.match(/^[\d.hmsµn]+$/);
  for (const usage of [item.usage, ...(item.containers ?? []).map((container) => container.usage)])
    for (const quantity of Object.values(usage ?? {}))
      expect(quantity).to.match(/^\d{1,19}([numkMGTPE]|[KMGTPE]i)?$/);
}
