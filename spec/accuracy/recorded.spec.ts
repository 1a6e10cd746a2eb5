import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { MetricsBatch } from '#lib/resource-metrics/metrics-batch.ts';
import type { TimedResponseOrigin } from '#lib/resource-metrics/scrape/decoding/complete-pod.ts';
import { decodeExposition } from '#lib/resource-metrics/scrape/decoding/exposition-decoder.ts';
import { decodeSummary } from '#lib/resource-metrics/scrape/decoding/summary-decoder.ts';
import { type NodeRecord, nextNodeRecord } from '#lib/resource-metrics/sink/node-record.ts';
import { intervalBetween } from '#lib/resource-metrics/sink/sample-interval.ts';
import { readingResponse } from '#spec/support/points.ts';

const SERIES = new URL('../fixtures/kubelet/series/', import.meta.url);
const ROUNDS = ['t0', 't1', 't2'];
const BURNERS = ['default/burner-7b8469d94f-v2dlv', 'default/burner-7b8469d94f-wrk7k'];

const recording = async (file: string) => await readFile(new URL(file, SERIES));

/** When containers were read in each round, by the milliseconds of its exposition. */
async function momentsOf(): Promise<readonly number[]> {
  const expositions = await Promise.all(ROUNDS.map((round) => recording(`${round}-metrics-resource.txt`)));
  return expositions.map((body) =>
    Math.max(
      ...expositionOf(body).pods.flatMap(({ containers }) => containers.map(({ takenAtMs }) => takenAtMs)),
    ),
  );
}

const NO_TIMES = { requestedAtMs: 0, respondedAtMs: 0, receivedAtMs: 0, receivedAtWallMs: 0 };
const expositionOf = (body: Buffer) => decodeExposition(body, { nodeName: 'lab-node', ...NO_TIMES });

/** The stored usages after each of three rounds, about 20 s apart, whose summary took 30 ms. */
async function recordsOf(
  file: string,
  decode: (body: Buffer, origin: TimedResponseOrigin) => MetricsBatch,
): Promise<readonly NodeRecord[]> {
  const records: NodeRecord[] = [];
  const moments = await momentsOf();
  for (const [index, round] of ROUNDS.entries()) {
    const body = await recording(`${round}-${file}`);
    const readAtMs = (moments[index] ?? Number.NaN) - (moments[0] ?? Number.NaN);
    const times = { requestedAtMs: readAtMs - 15, respondedAtMs: readAtMs + 15, receivedAtMs: readAtMs + 20 };
    const response = decode(body, { nodeName: 'lab-node', ...times, receivedAtWallMs: 0 });
    const options = { resolutionMs: 20_000, cycleStartedAtMs: 0, livePodUid: () => undefined };
    records.push(nextNodeRecord(records.at(-1), response, options));
  }
  return records;
}

/** A value that the kubelet caches, as its summary and, with milliseconds, its exposition report it. */
async function cachedValues(round: string, name: string) {
  const summary = JSON.parse(String(await recording(`${round}-summary-cpu-memory.json`)));
  const pod = summary.pods.find(({ podRef }: { podRef: { name: string } }) => podRef.name === name);
  const { cpu } = name === 'node' ? summary.node : pod;
  const series =
    name === 'node' ? 'node_cpu_usage_seconds_total' : `pod_cpu_usage_seconds_total\\{.*"${name}"\\}`;
  const exposition = String(await recording(`${round}-metrics-resource.txt`));
  const [, stamp] = new RegExp(`^${series} \\S+ (\\d+)$`, 'm').exec(exposition) ?? [];
  const takenAtMs = Date.parse(cpu.time);
  const response = readingResponse();
  const counter = { takenAtMs, cpuCoreNanoseconds: cpu.usageCoreNanoSeconds, response };
  return { counter, nanocores: cpu.usageNanoCores, sampledAtMs: Number(stamp) };
}

describe("a real kubelet's responses", () => {
  it('yield the values that were computed by hand', async () => {
    const [first, second, third] = await recordsOf('summary-cpu-memory.json', decodeSummary);
    const burn = (record: NodeRecord | undefined, pod: string) =>
      record?.pods.get(pod)?.usage?.containers.find(({ name }) => name === 'burn');
    expect(burn(second, 'default/burner-7b8469d94f-wrk7k')).to.deep.include({
      windowMs: 20_268,
      cpuNanocores: 60_571_767,
      memoryBytes: 25_436_160,
    });
    // 16 s old at the first reading, and so its rate covers its lifetime.
    expect(burn(first, 'default/burner-7b8469d94f-v2dlv')).to.deep.include({
      windowMs: 16_000,
      cpuNanocores: 61_205_996,
    });
    expect(burn(third, 'default/burner-7b8469d94f-wrk7k')).to.deep.include({
      windowMs: 20_383,
      cpuNanocores: 60_217_464,
    });
    expect(first?.usage).to.deep.include({ cpuNanocores: 189_083_034, windowMs: 10_000 });
  });

  it("prove the time between a cache's samples by the kubelet's rate, over one sampling interval", async () => {
    const names = ['burner-7b8469d94f-v2dlv', 'burner-7b8469d94f-wrk7k'];
    for (const name of names) {
      for (const [before, after] of [
        ['t0', 't1'],
        ['t1', 't2'],
      ] as const) {
        const [earlier, later] = [await cachedValues(before, name), await cachedValues(after, name)];
        const intervalMs = intervalBetween(earlier.counter, later.counter, { ...later, isCached: true });
        expect(intervalMs, `${name} ${before}`).to.be.closeTo(later.sampledAtMs - earlier.sampledAtMs, 1);
      }
    }
  });

  it('do not prove it by the rate of the node, which covers the second of two intervals of 10 s', async () => {
    const [earlier, later] = [await cachedValues('t0', 'node'), await cachedValues('t1', 'node')];
    expect(later.sampledAtMs - earlier.sampledAtMs).to.equal(20_040);
    const used = later.counter.cpuCoreNanoseconds - earlier.counter.cpuCoreNanoseconds;
    expect((used / later.nanocores) * 1000).to.be.closeTo(20_660, 1);
    expect(intervalBetween(earlier.counter, later.counter, { ...later, isCached: true })).to.equal(20_000);
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
          expect(usage?.cpuNanocores).to.be.closeTo(60_000_000, 900_000);
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
