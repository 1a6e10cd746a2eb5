import { expect } from 'chai';
import {
  findRates,
  type NodeRecord,
  type NodeRecordOptions,
  nextNodeRecord,
} from '#lib/resource-metrics/sink/node-record.ts';
import { growthOf } from '#spec/reliability/foreign-text/growth.ts';
import { at, containerPoint, metricsBatch, nodePoint, podPoints } from '#spec/support/points.ts';

const OPTIONS: NodeRecordOptions = { resolutionMs: 60_000, cycleStartedAtMs: 0, livePodUid: () => undefined };
const KEY = 'default/web-1';

/** A response at a second, with the CPU time used by each container until then. */
function responseAt(
  seconds: number,
  containers: Record<string, number>,
  pod: Parameters<typeof podPoints>[0] = {},
) {
  const points = Object.entries(containers).map(([name, cpuCoreNanoseconds]) =>
    containerPoint({ name, cpuCoreNanoseconds, takenAtMs: at(seconds) }),
  );
  return metricsBatch({
    receivedAtMs: seconds * 1000,
    node: nodePoint({ takenAtMs: at(seconds), cpuCoreNanoseconds: 5e12 + seconds * 1e9 }),
    pods: [podPoints({ containers: points, ...pod })],
  });
}

function recordOf(...responses: ReturnType<typeof responseAt>[]): NodeRecord {
  const record = responses.reduce<NodeRecord | undefined>(
    (record, response) => nextNodeRecord(record, response, OPTIONS),
    undefined,
  );
  if (!record) throw new Error('a record needs a response');
  return record;
}

describe('nextNodeRecord', () => {
  it("serves the kubelet's rate of a node after one reading", () => {
    const { usage } = recordOf(responseAt(0, {}));
    expect(usage).to.deep.equal({
      name: 'node-1',
      timestampMs: at(0),
      windowMs: 10_000,
      cpuNanocores: 250_000_000,
      memoryBytes: 2 ** 30,
    });
  });

  it('serves the rate of the counter after two readings', () => {
    expect(recordOf(responseAt(0, {}), responseAt(60, {})).usage).to.deep.include({
      cpuNanocores: 1e9,
      windowMs: 60_000,
    });
  });

  it('finds a hundred containers in another order', () => {
    const cpu = (index: number, each: number) => [`c-${index}`, index * each] as const;
    const inOrder = Array.from({ length: 100 }, (_, index) => cpu(index, 1e9));
    const reversed = Array.from({ length: 100 }, (_, index) => cpu(index, 61e9)).reverse();
    const { pods } = recordOf(
      responseAt(0, Object.fromEntries(inOrder)),
      responseAt(60, Object.fromEntries(reversed)),
    );
    const used = pods.get(KEY)?.containerUsages.map(({ name, cpuNanocores }) => [name, cpuNanocores]);
    expect(used).to.deep.equal(reversed.map(([name]) => [name, Number(name.slice(2)) * 1e9]));
  });

  it('takes linear time for thousands of containers in any order, and with other names', async () => {
    const cpu = (name: string, count: number) =>
      Array.from({ length: count }, (_, index) => [`${name}-${index}`, 1e9] as const);
    const read = ({ record, next }: { record: NodeRecord; next: ReturnType<typeof responseAt> }) =>
      nextNodeRecord(record, next, OPTIONS);
    for (const change of [
      (count: number) => cpu('c', count).reverse(),
      (count: number) => cpu('other', count),
    ]) {
      const of = (count: number) => ({
        record: recordOf(responseAt(0, Object.fromEntries(cpu('c', count)))),
        next: responseAt(60, Object.fromEntries(change(count))),
      });
      expect(await growthOf(read, { short: of(63), long: of(4_032), parts: 64 })).to.include({
        isLinear: true,
      });
    }
  });

  it('serves a pod when all of its containers have a usage', () => {
    const { pods } = recordOf(
      responseAt(0, { app: 1e9, side: 2e9 }),
      responseAt(60, { app: 7e9, side: 2e9 }),
    );
    const measured = { timestampMs: at(60), windowMs: 60_000, memoryBytes: 2 ** 20 };
    expect(pods.get(KEY)?.usage).to.deep.include({
      namespace: 'default',
      name: 'web-1',
      uid: 'uid-web-1',
      timestampMs: at(60),
      windowMs: 60_000,
      containers: [
        { ...measured, name: 'app', cpuNanocores: 1e8 },
        { ...measured, name: 'side', cpuNanocores: 0 },
      ],
    });
  });

  it('does not serve a pod while a container has one reading', () => {
    const { pods } = recordOf(responseAt(0, { app: 1e9 }), responseAt(60, { app: 7e9, new: 1 }));
    expect(pods.get(KEY)?.usage).to.equal(undefined);
  });

  it('uses timestamp and window of the container with the earliest timestamp', () => {
    const later = responseAt(60, { app: 7e9, side: 2e9 });
    const [pod] = later.pods;
    const containers =
      pod?.containers.map((each, index) => ({ ...each, takenAtMs: at(60 - 5 * index) })) ?? [];
    const record = recordOf(responseAt(0, { app: 1e9, side: 1e9 }), {
      ...later,
      pods: [podPoints({ containers })],
    });
    expect(record.pods.get(KEY)?.usage).to.deep.include({ timestampMs: at(55), windowMs: 55_000 });
  });

  it('continues without a container that is no longer reported', () => {
    const { pods } = recordOf(responseAt(0, { app: 1e9, gone: 1e9 }), responseAt(60, { app: 7e9 }));
    expect(pods.get(KEY)?.usage?.containers.map(({ name }) => name)).to.deep.equal(['app']);
  });

  it('continues without a removed container even if no sample is new', () => {
    const second = responseAt(60, { app: 7e9, gone: 2e9 });
    const third = { ...responseAt(60, { app: 7e9 }), requestedAtMs: 75_000, receivedAtMs: 75_000 };
    const { pods } = recordOf(responseAt(0, { app: 1e9, gone: 1e9 }), second, third);
    expect(pods.get(KEY)?.usage?.containers.map(({ name }) => name)).to.deep.equal(['app']);
  });

  it('does not serve an incomplete pod, but retains its readings', () => {
    const incomplete = responseAt(
      60,
      { app: 7e9 },
      { incompleteBecause: 'container "side" has no CPU time' },
    );
    expect(recordOf(responseAt(0, { app: 1e9 }), incomplete).pods.get(KEY)?.usage).to.equal(undefined);
    const again = recordOf(responseAt(0, { app: 1e9 }), incomplete, responseAt(120, { app: 13e9 }));
    expect(again.pods.get(KEY)?.usage).to.deep.include({ windowMs: 60_000 });
  });

  it('discards readings of a previous pod with the same name', () => {
    const { pods } = recordOf(responseAt(0, { app: 1e9 }), responseAt(60, { app: 7e9 }, { uid: 'uid-2' }));
    expect(pods.get(KEY)?.usage).to.equal(undefined);
  });

  describe('for a first response', () => {
    const firstUsage = (...starts: readonly number[]) => {
      const pods = starts.map((seconds, index) => {
        const container = containerPoint({ startedAtMs: at(seconds) });
        return podPoints({ name: `pod-${index}`, containers: [container] });
      });
      return nextNodeRecord(undefined, metricsBatch({ pods }), OPTIONS).pods.get('default/pod-0')?.usage;
    };

    it('serves a pod that started within the resolution', () => {
      expect(firstUsage(-30, -3600)).to.deep.include({ windowMs: 30_000 });
    });

    it('does not if a start time is in the future, due to a clock set back', () => {
      expect(firstUsage(-30, 3600)).to.equal(undefined);
      expect(firstUsage(-30, 1)).to.equal(undefined);
      expect(firstUsage(-30, 0)).to.deep.include({ windowMs: 30_000 });
      const containers = [-30, 3600].map((seconds, index) =>
        containerPoint({ name: `c${index}`, startedAtMs: at(seconds) }),
      );
      const young = podPoints({ name: 'young', containers: [containerPoint({ startedAtMs: at(-30) })] });
      const response = metricsBatch({ pods: [young, podPoints({ containers })] });
      const record = nextNodeRecord(undefined, response, OPTIONS);
      expect(record.pods.get('default/young')?.usage).to.equal(undefined);
    });
  });

  it('serves a pod that started during the previous scrape', () => {
    const slow = { ...responseAt(10, {}), requestedAtMs: 0, receivedAtMs: 10_000, pods: [] };
    const container = containerPoint({ startedAtMs: at(8), takenAtMs: at(60) });
    const next = { ...responseAt(60, {}), pods: [podPoints({ containers: [container] })] };
    expect(recordOf(slow, next).pods.get(KEY)?.usage).to.deep.include({ windowMs: 52_000 });
  });

  describe('without UIDs of the kubelet', () => {
    /** The record after responses at 0 s and 60 s, with the live UID at each. */
    const recordWith = (...uids: readonly (string | undefined)[]) =>
      uids.reduce<NodeRecord | undefined>((record, uid, index) => {
        const response = responseAt(60 * index, { app: 1e9 + index * 6e9 }, { uid: undefined });
        return nextNodeRecord(record, response, { ...OPTIONS, livePodUid: () => uid });
      }, undefined);

    it('uses the UID of the live pod', () => {
      expect(recordWith('a', 'a')?.pods.get(KEY)?.usage).to.deep.include({ uid: 'a', windowMs: 60_000 });
      expect(recordWith('a', 'b')?.pods.get(KEY)).to.deep.include({ uid: 'b', usage: undefined });
    });

    it('continues by name without a live pod', () => {
      expect(recordWith(undefined, 'a')?.pods.get(KEY)?.usage).to.deep.include({
        uid: 'a',
        windowMs: 60_000,
      });
    });
  });

  it('compares readings of two endpoints', () => {
    const fine = { ...responseAt(44, { app: 9e9 }), stampResolution: 'millisecond' } as const;
    const record = recordOf(responseAt(0, { app: 1e9 }), responseAt(30, { app: 7e9 }), fine);
    expect(record.usage?.windowMs).to.equal(13_501); // between 13 s and 14,001 ms
    const finer = { ...responseAt(60, { app: 9e9 }), stampResolution: 'millisecond' } as const;
    expect(nextNodeRecord(record, finer, OPTIONS).usage?.windowMs).to.equal(16_000);
  });

  it('removes a pod that is no longer reported', () => {
    expect(recordOf(responseAt(0, { app: 1e9 }), { ...responseAt(60, {}), pods: [] }).pods.size).to.equal(0);
  });

  it('retains the usage object of a node until there is a new sample', () => {
    const first = recordOf(responseAt(0, { app: 1e9 }), responseAt(60, { app: 7e9 }));
    const again = nextNodeRecord(first, { ...responseAt(60, { app: 7e9 }), receivedAtMs: 75_000 }, OPTIONS);
    expect(again.usage).to.equal(first.usage);
    expect(again.response.receivedAtMs).to.equal(75_000);
  });

  it('removes the usage of a node that is no longer sampled', () => {
    const same = (receivedAtMs: number) => ({
      ...responseAt(60, { app: 7e9 }),
      requestedAtMs: receivedAtMs,
      receivedAtMs,
    });
    const record = recordOf(responseAt(0, { app: 1e9 }), same(60_000), same(120_000), same(360_000));
    expect(record.usage).to.equal(undefined);
    expect(record.pods.get(KEY)?.usage).to.equal(undefined);
  });

  it('has no usage of a node that is not reported', () => {
    expect(recordOf({ ...responseAt(0, {}), node: undefined }).usage).to.equal(undefined);
  });
});

describe('findRates', () => {
  it('is false after one response and true after two', () => {
    expect(findRates(recordOf(responseAt(0, { app: 1e9 })))).to.deep.equal({ node: false, container: false });
    const young = containerPoint({ name: 'app', takenAtMs: at(0), startedAtMs: at(0) - 20_000 });
    const byItsAge = recordOf({ ...responseAt(0, {}), pods: [podPoints({ containers: [young] })] });
    expect(byItsAge.pods.get(KEY)?.usage?.windowMs).to.equal(20_000);
    expect(findRates(byItsAge)).to.deep.equal({ node: false, container: false });
    expect(findRates(recordOf(responseAt(0, {}), responseAt(12, {})))).to.deep.equal({
      node: true,
      container: false,
    });
  });

  it('is true for a pod even if the node has no new sample', () => {
    const second = { ...responseAt(12, { app: 7e9 }), node: nodePoint() };
    const first = { ...responseAt(0, { app: 1e9 }), node: nodePoint() };
    expect(findRates(recordOf(first, second))).to.deep.equal({ node: false, container: true });
    const fresh = podPoints({
      name: 'web-2',
      uid: 'uid-web-2',
      containers: [containerPoint({ takenAtMs: at(12) })],
    });
    for (const pods of [
      [...second.pods, fresh],
      [fresh, ...second.pods],
    ])
      expect(findRates(recordOf(first, { ...second, pods })).container).to.equal(true);
    expect(findRates(recordOf(first, { ...second, pods: [fresh] })).container).to.equal(false);
  });
});
