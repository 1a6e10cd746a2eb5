import { expect } from 'chai';
import { nextNodeRecord } from '#lib/resource-metrics/sink/node-record.ts';
import type { PodRecord } from '#lib/resource-metrics/sink/pod-record.ts';
import { isSamePodUsage } from '#lib/resource-metrics/sink/snapshot.ts';
import { at, containerPoint, metricsBatch, podPoints } from '#spec/support/points.ts';

const OPTIONS = { resolutionMs: 60_000, cycleStartedAtMs: 0, livePodUid: () => undefined };

type Response = ReturnType<typeof metricsBatch>;

/** A pod at a second, with the CPU time used by each container until then. */
const responseAt = (seconds: number, containers: readonly [name: string, cpuCoreNanoseconds: number][]) =>
  metricsBatch({
    receivedAtMs: seconds * 1000,
    pods: [
      podPoints({
        containers: containers.map(([name, cpuCoreNanoseconds]) =>
          containerPoint({ name, cpuCoreNanoseconds, takenAtMs: at(seconds) }),
        ),
      }),
    ],
  });

/** Returns the pod's record after each response. */
function recordsOf(...responses: readonly Response[]): PodRecord[] {
  let record: ReturnType<typeof nextNodeRecord> | undefined;
  return responses.map((response) => {
    record = nextNodeRecord(record, response, OPTIONS);
    const [pod] = record.pods.values();
    if (!pod) throw new Error('the response has no pod');
    return pod;
  });
}

describe('PodRecord', () => {
  const first = responseAt(0, [
    ['app', 1e9],
    ['side', 2e9],
  ]);
  const second = responseAt(60, [
    ['app', 7e9],
    ['side', 5e9],
  ]);

  it('finds histories of containers by name', () => {
    const [, record] = recordsOf(first, second);
    expect(record?.containers.map(({ name }) => name)).to.deep.equal(['app', 'side']);
    for (const likelyIndex of [0, 1, 2]) {
      const readings = record?.historyOf('side', likelyIndex)?.readings ?? [];
      expect(readings.map((each) => [each.takenAtMs, each.cpuCoreNanoseconds])).to.deep.equal([
        [at(0), 2e9],
        [at(60), 5e9],
      ]);
    }
    expect(record?.historyOf('other', 0)).to.equal(undefined);
  });

  it('finds containers by name if their order changes', () => {
    const swapped = responseAt(60, [
      ['side', 5e9],
      ['app', 7e9],
    ]);
    const [, record] = recordsOf(first, swapped);
    expect(record?.usage?.containers.map(({ name, cpuNanocores }) => [name, cpuNanocores])).to.deep.equal([
      ['side', 5e7],
      ['app', 1e8],
    ]);
  });

  it('has no usage without containers', () => {
    const [, record] = recordsOf(responseAt(0, []), responseAt(60, []));
    expect(record).to.deep.include({ usage: undefined, containerCount: 0 });
  });

  it('shares unchanged values, and does not change earlier records', () => {
    const swapped = responseAt(60, [
      ['side', 5e9],
      ['app', 7e9],
    ]);
    const again = { requestedAtMs: 75_000, receivedAtMs: 75_000 };
    const [, before, same, other] = recordsOf(
      first,
      second,
      { ...second, ...again },
      { ...swapped, ...again },
    );
    if (!before?.usage || !same?.usage || !other?.usage) throw new Error('usage is missing');
    expect(isSamePodUsage(before.usage, same.usage)).to.equal(true);
    expect(isSamePodUsage(same.usage, other.usage)).to.equal(false);
    for (const { usage } of [before, same]) {
      expect(usage).to.deep.include({
        ...{ namespace: 'default', name: 'web-1', uid: 'uid-web-1', timestampMs: at(60), windowMs: 60_000 },
        containerCount: 2,
      });
      expect(usage?.containers.map(({ name }) => name)).to.deep.equal(['app', 'side']);
      expect(usage?.containers.map(({ cpuNanocores }) => cpuNanocores)).to.deep.equal([1e8, 5e7]);
    }
  });

  it('does not change earlier usages', () => {
    const third = responseAt(120, [
      ['app', 8e9],
      ['side', 6e9],
    ]);
    const [, before, after] = recordsOf(first, second, third);
    expect(after?.usage).not.to.equal(before?.usage);
    expect(before?.usage?.timestampMs).to.equal(at(60));
    expect(before?.usage?.containers.map(({ cpuNanocores }) => cpuNanocores)).to.deep.equal([1e8, 5e7]);
  });

  it('uses the last of two pods with one name', () => {
    const [old] = responseAt(60, [['app', 9e9]]).pods;
    const [, record] = recordsOf(first, { ...second, pods: [...(old ? [old] : []), ...second.pods] });
    expect(record?.usage?.containers).to.have.length(2);
  });
});
