import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import type { ExtraResource } from '#lib/resource-metrics/batch/extra-resources.ts';
import { ExcessiveAnswer } from '#lib/resource-metrics/scrape/excessive-answer.ts';
import { JsonScanner } from '#lib/resource-metrics/scrape/json-scanner.ts';
import { decodeSummary } from '#lib/resource-metrics/scrape/summary-decoder.ts';
import { MOST_CONTAINERS, SummaryReader } from '#lib/resource-metrics/scrape/summary-reader.ts';
import { decodeSummaryPlainly } from './plain-summary-decoder.ts';

const SERIES = new URL('../../fixtures/kubelet/series/', import.meta.url);
const ORIGIN = { nodeName: 'lab-node', askedAtMs: 0, receivedAtMs: 0 };
const BOTH = new Set<ExtraResource>(['swap', 'ephemeral-storage']);
const RECORDED = [
  't0-summary.json',
  't0-summary-cpu-memory.json',
  't1-summary.json',
  't2-summary-cpu-memory.json',
];

const read = (text: string) => new SummaryReader(new JsonScanner(Buffer.from(text)), BOTH).read();
const recorded = (file: string) => readFile(new URL(file, SERIES), 'utf8');
/** What both decoders tell of a text, in the same words. */
const quick = (text: string) => {
  const { node, pods, ignored } = decodeSummary(Buffer.from(text), ORIGIN, BOTH);
  return { node, pods, unnamed: ignored.length };
};
const plain = (text: string) => decodeSummaryPlainly(text, ORIGIN, BOTH);

const number = fc.oneof(
  fc.nat(),
  fc.maxSafeNat(),
  fc.double(),
  fc.constantFrom(0, 2 ** 53, 2 ** 60, -1, 0.5),
);
const time = fc.constantFrom(
  '2026-11-21T09:12:34Z',
  '2026-11-21T10:12:34.5+01:00',
  '0001-01-01T00:00:00Z',
  'x',
  '',
);
const text = fc.oneof(fc.string(), fc.constantFrom('a', 'ü', '\\', '"', '\u2028', '\ud800', '__proto__'));
/** Now and then what a kubelet never says. */
const or = <T>(usual: fc.Arbitrary<T>) =>
  fc.oneof(
    { arbitrary: usual as fc.Arbitrary<unknown>, weight: 12 },
    { arbitrary: fc.jsonValue(), weight: 1 },
  );
const record = (model: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  fc
    .record(
      Object.fromEntries(
        Object.entries({ ...model, other: fc.jsonValue() }).map(([key, value]) => [key, or(value)]),
      ),
      {
        requiredKeys: [],
      },
    )
    .chain((object) =>
      fc
        .shuffledSubarray(Object.keys(object), { minLength: Object.keys(object).length })
        .map((keys) => Object.fromEntries(keys.map((key) => [key, object[key]]))),
    );
const cpu = record({ time, usageNanoCores: number, usageCoreNanoSeconds: number, psi: fc.jsonValue() });
const memory = record({ time, workingSetBytes: number, psi: fc.jsonValue() });
const usedBytes = record({ usedBytes: number });
const stats = { startTime: time, cpu, memory, swap: record({ swapUsageBytes: number }), fs: usedBytes };
const container = record({ ...stats, name: text, rootfs: usedBytes, logs: usedBytes });
const pod = record({
  podRef: record({ name: text, namespace: text, uid: text }),
  containers: fc.array(or(container), { maxLength: 4 }),
});
const summary = record({
  node: record({ ...stats, nodeName: fc.constantFrom('lab-node', '', 7) }),
  pods: fc.array(or(pod), { maxLength: 4 }),
});
const indent = fc.constantFrom(undefined, 1, '\t', '\r\n');

describe('SummaryReader', () => {
  it('reads of recorded answers what parsing all of them reads', async () => {
    for (const file of RECORDED) {
      const answer = await recorded(file);
      expect(quick(answer), file).to.deep.equal(plain(answer));
    }
  });

  it('reads of any summary what parsing all of it reads, whatever is in it and however it is written', () => {
    fc.assert(
      fc.property(summary, indent, (contents, space) => {
        const written = JSON.stringify(contents, undefined, space);
        let expected: ReturnType<typeof plain>;
        try {
          expected = plain(written);
        } catch {
          expect(() => quick(written)).to.throw();
          return;
        }
        expect(quick(written)).to.deep.equal(expected);
      }),
      { numRuns: 1000 },
    );
  });

  it('refuses every answer that breaks off', async () => {
    const whole = JSON.stringify(JSON.parse(await recorded('t0-summary-cpu-memory.json')));
    for (let length = 0; length < whole.length; length++) {
      expect(() => read(whole.slice(0, length)), whole.slice(0, length)).to.throw(
        /not (valid JSON at its end|a JSON object)/,
      );
    }
  });

  it('takes the last of several members of one name', () => {
    const both = '{"pods":[1],"node":{"memory":{"workingSetBytes":1}},"node":{"nodeName":"b"},"pods":[]}';
    expect(read(both)).to.deep.include({ nodeName: 'b', node: undefined, pods: [] });
    const twice =
      '{"node":{"cpu":{"time":"2026-11-21T09:12:34Z","usageCoreNanoSeconds":1},"cpu":{},"memory":{"workingSetBytes":1}}}';
    expect(read(twice).node).to.equal(undefined);
  });

  it('has of storage and swap only what the kubelet knows, and no 0 for the rest', async () => {
    const decode = async (file: string, extras?: ReadonlySet<ExtraResource>) =>
      decodeSummary(Buffer.from(await recorded(file)), ORIGIN, extras);
    const { node, pods } = await decode('t0-summary.json', BOTH);
    expect(node?.extraBytes).to.deep.equal({ 'ephemeral-storage': 37_236_572_160, swap: 0 });
    expect(pods[0]?.containers[0]?.extraBytes).to.deep.equal({ 'ephemeral-storage': 8192, swap: 0 });
    const slim = await decode('t0-summary-cpu-memory.json', BOTH);
    expect(slim.pods[0]?.containers[0]?.extraBytes).to.deep.equal({ swap: 0 });
    const unasked = await decode('t0-summary.json');
    expect(unasked.pods[0]?.containers[0]).not.to.have.property('extraBytes');
  });

  it('refuses more pods and containers than a node can run', () => {
    const answer = (pods: number) => `{"pods":[${Array(pods).fill('{}').join()}]}`;
    expect(read(answer(MOST_CONTAINERS)).pods).to.have.length(MOST_CONTAINERS);
    expect(() => read(answer(MOST_CONTAINERS + 1)))
      .to.throw(ExcessiveAnswer)
      .with.property('bound', 'parts');
  });
});
