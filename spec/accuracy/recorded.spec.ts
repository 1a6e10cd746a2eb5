import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { MetricsBatch } from '#lib/resource-metrics/metrics-batch.ts';
import type { TimedResponseOrigin } from '#lib/resource-metrics/scrape/decoding/complete-pod.ts';
import { decodeExposition } from '#lib/resource-metrics/scrape/decoding/exposition-decoder.ts';
import { decodeSummary } from '#lib/resource-metrics/scrape/decoding/summary-decoder.ts';
import { type NodeRecord, nextNodeRecord } from '#lib/resource-metrics/sink/node-record.ts';

const SERIES = new URL('../fixtures/kubelet/series/', import.meta.url);
const ROUNDS = ['t0', 't1', 't2'];
const BURNERS = ['default/burner-7b8469d94f-v2dlv', 'default/burner-7b8469d94f-wrk7k'];

/** The stored usages after each of three rounds that were recorded 20 s apart. */
async function recordsOf(
  file: string,
  decode: (body: Buffer, origin: TimedResponseOrigin) => MetricsBatch,
): Promise<readonly NodeRecord[]> {
  const records: NodeRecord[] = [];
  for (const [index, round] of ROUNDS.entries()) {
    const body = await readFile(new URL(`${round}-${file}`, SERIES));
    const times = { requestedAtMs: index * 20_000, receivedAtMs: index * 20_000, receivedAtWallMs: 0 };
    const response = decode(body, { nodeName: 'lab-node', ...times });
    const options = { resolutionMs: 20_000, cycleStartedAtMs: 0, livePodUid: () => undefined };
    records.push(nextNodeRecord(records.at(-1), response, options));
  }
  return records;
}

describe("a real kubelet's responses", () => {
  it('yield the values that were computed by hand', async () => {
    const [first, second, third] = await recordsOf('summary-cpu-memory.json', decodeSummary);
    const burn = (record: NodeRecord | undefined, pod: string) =>
      record?.pods.get(pod)?.usage?.containers.find(({ name }) => name === 'burn');
    expect(burn(second, 'default/burner-7b8469d94f-wrk7k')).to.deep.include({
      windowMs: 20_000,
      cpuNanocores: 61_383_429,
      memoryBytes: 25_436_160,
    });
    // 16 s old at the first reading, and so its rate covers its lifetime.
    expect(burn(first, 'default/burner-7b8469d94f-v2dlv')).to.deep.include({
      windowMs: 16_000,
      cpuNanocores: 61_205_996,
    });
    expect(burn(third, 'default/burner-7b8469d94f-wrk7k')).to.deep.include({ windowMs: 40_000 });
    expect(first?.usage).to.deep.include({ cpuNanocores: 189_083_034, windowMs: 10_000 });
  });

  for (const [file, decode] of [
    ['summary-cpu-memory.json', decodeSummary],
    ['metrics-resource.txt', decodeExposition],
  ] as const) {
    it(`yield the actual 60 millicores and 24 MiB, from ${file}`, async () => {
      const [, ...later] = await recordsOf(file, decode);
      for (const record of later) {
        for (const pod of BURNERS) {
          const [usage] = record.pods.get(pod)?.usage?.containers.filter(({ name }) => name === 'burn') ?? [];
          expect(usage?.cpuNanocores).to.be.closeTo(60_000_000, 60_000_000 / 20 + 1e6);
          expect(usage?.memoryBytes).to.be.within(24 * 2 ** 20, 25 * 2 ** 20);
        }
        const quiet = record.pods.get('kube-system/quiet')?.usage?.containers[0];
        expect(quiet?.cpuNanocores).to.equal(0);
      }
    });
  }

  it('yield the values that the reference served at the time', async () => {
    const [, second, third] = await recordsOf('metrics-resource.txt', decodeExposition);
    for (const [round, record] of [
      ['t1', second],
      ['t2', third],
    ] as const) {
      const { items } = JSON.parse(await readFile(new URL(`${round}-reference-pods.json`, SERIES), 'utf8'));
      for (const { metadata, containers } of items) {
        const ours = record?.pods.get(`${metadata.namespace}/${metadata.name}`)?.usage?.containers;
        for (const { name, usage } of containers) {
          const cpu = ours?.find((each) => each.name === name)?.cpuNanocores;
          const theirs = usage.cpu === '0' ? 0 : Number.parseInt(usage.cpu, 10);
          expect(cpu, `${metadata.name}/${name}`).to.be.closeTo(theirs, Math.max(theirs / 20, 100_000));
        }
      }
    }
  });
});
