import { expect } from 'chai';
import fc from 'fast-check';
import { decodeSummary } from '#lib/resource-metrics/scrape/decoding/summary-decoder.ts';
import { type NodeRecord, nextNodeRecord } from '#lib/resource-metrics/sink/node-record.ts';
import { at } from '#spec/support/points.ts';

/** A container in a kubelet's response, possibly incomplete. */
interface ReportedContainer {
  readonly name: string;
  readonly startSeconds: number;
  readonly hasCpu: boolean;
  readonly hasMemory: boolean;
}

const reported: fc.Arbitrary<ReportedContainer> = fc.record({
  name: fc.constantFrom('a', 'b', 'c', 'd'),
  startSeconds: fc.integer({ min: -100, max: 60 }),
  hasCpu: fc.boolean(),
  hasMemory: fc.boolean(),
});
const responses = fc.array(fc.uniqueArray(reported, { selector: ({ name }) => name }), {
  minLength: 1,
  maxLength: 5,
});

function summaryAt(seconds: number, containers: readonly ReportedContainer[]): string {
  const time = new Date(at(seconds)).toISOString();
  const parts = containers.map(({ name, startSeconds, hasCpu, hasMemory }) => ({
    name,
    startTime: new Date(at(startSeconds)).toISOString(),
    ...(hasCpu && { cpu: { time, usageCoreNanoSeconds: 1e9 * (200 + seconds) } }),
    ...(hasMemory && { memory: { time, workingSetBytes: 4096 } }),
  }));
  const podRef = { namespace: 'default', name: 'web', uid: 'u1' };
  return JSON.stringify({ pods: [{ podRef, containers: parts }] });
}

describe('the served metrics of a pod', () => {
  it("are all of its kubelet's last response, or absent", () => {
    const options = { resolutionMs: 20_000, cycleStartedAtMs: 0, livePodUid: () => undefined };
    fc.assert(
      fc.property(responses, (rounds) => {
        let record: NodeRecord | undefined;
        for (const [round, containers] of rounds.entries()) {
          const seconds = 20 * round;
          const ms = 1000 * seconds;
          const origin = { nodeName: 'a', requestedAtMs: ms, respondedAtMs: ms, receivedAtMs: ms };
          record = nextNodeRecord(
            record,
            decodeSummary(Buffer.from(summaryAt(seconds, containers)), origin),
            options,
          );
          const usage = record.pods.get('default/web')?.usage;
          if (!usage) continue;
          const whole = containers.filter(({ hasCpu, hasMemory }) => hasCpu && hasMemory);
          expect(usage.containers.map(({ name }) => name)).to.deep.equal(whole.map(({ name }) => name));
          for (const container of containers.filter((each) => !whole.includes(each))) {
            expect(container.hasCpu || container.hasMemory, 'half known').to.equal(false);
            const isInit = whole.some(({ startSeconds }) => startSeconds > container.startSeconds);
            expect(isInit, 'a finished init container').to.equal(true);
          }
        }
      }),
      { numRuns: 1000 },
    );
  });
});
