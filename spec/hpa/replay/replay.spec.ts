import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { DELIBERATE_DIFFERENCES } from './deliberate-differences.ts';
import { readCases } from './read-cases.ts';
import { formatReport, replayAll } from './replay-report.ts';

const FILES = [
  { version: '1.34', file: 'spec/fixtures/hpa/cases.jsonl.gz', count: 2454 },
  { version: '1.36', file: 'spec/fixtures/hpa/cases-1.36.jsonl.gz', count: 1188 },
] as const;

describe("the recorded decisions of Kubernetes' HPA controller", () => {
  const recordings = FILES.map((one) => {
    const cases = readCases(one.file);
    return { ...one, cases, report: replayAll(cases) };
  });
  const [{ cases, report }] = recordings as [(typeof recordings)[number]];

  for (const { version, count, cases, report } of recordings) {
    it(`are complete for ${version}`, () => {
      expect(cases).to.have.length(count);
      expect(new Set(cases.map(({ recorded }) => recorded.id))).to.have.property('size', count);
    });

    it(`equal ours except for deliberate differences, for ${version}`, () => {
      const mistakes = report.differing.filter(({ deliberate }) => deliberate === undefined);
      expect(mistakes, formatReport({ ...report, differing: mistakes })).to.deep.equal([]);
      expect(report.agreeing + report.differing.length).to.equal(count);
    });
  }

  it('differ as often as docs/explanation/hpa.md says', () => {
    const table = readFileSync('docs/explanation/hpa.md', 'utf8').split('## Deliberate differences')[1] ?? '';
    const rows = [...table.matchAll(/^\| ([a-z0-9 ]+) \| (\d+) \| (\d+) \|/gm)].map(([, name, ...counts]) => [
      name,
      ...counts.map(Number),
    ]);
    const counts = DELIBERATE_DIFFERENCES.map(({ name }) => [
      name,
      ...recordings.map(
        ({ report }) => report.differing.filter(({ deliberate }) => deliberate === name).length,
      ),
    ]);
    expect(rows).to.deep.equal([...counts, ['a percentage beyond 32 bits', 0, 0]]);
  });

  it('reveal a single changed decision', () => {
    const differing = new Set(report.differing.map(({ id }) => id));
    const agreeing = cases.filter(({ recorded }) => !differing.has(recorded.id));
    const changed = agreeing.slice(0, 200).map(({ place, recorded }) => {
      const expected = { ...recorded.expected, statusWritten: !recorded.expected.statusWritten };
      return { place, recorded: { ...recorded, expected } };
    });
    expect(replayAll(changed).differing.filter(({ deliberate }) => deliberate === undefined)).to.have.length(
      changed.length,
    );
  });
});

describe('formatReport', () => {
  it('ends with sums and differing cases', () => {
    const fields = [{ path: 'error', recorded: 'a', replayed: undefined }];
    const text = formatReport({
      agreeing: 3,
      differing: [
        { id: 'edge-a', fields, deliberate: undefined },
        { id: 'edge-b', fields, deliberate: 'mean over no replicas' },
      ],
    });
    expect(text.split('\n')).to.deep.equal([
      'edge-a:',
      '  error: recorded "a", replayed undefined',
      '3 agree, 2 differ',
      'edge-a',
      'edge-b (mean over no replicas)',
    ]);
  });
});
