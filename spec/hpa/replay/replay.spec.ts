import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { DELIBERATE_DIFFERENCES } from './deliberate-differences.ts';
import { readCases } from './read-cases.ts';
import { formatReport, replayAll } from './replay-report.ts';

describe("the recorded decisions of Kubernetes' HPA controller", () => {
  const cases = readCases('spec/fixtures/hpa/cases.jsonl.gz');
  const report = replayAll(cases);

  it('are all there', () => {
    expect(cases).to.have.length(2454);
    expect(new Set(cases.map(({ recorded }) => recorded.id))).to.have.property('size', 2454);
  });

  it('are ours, too, but for deliberate differences', () => {
    const mistakes = report.differing.filter(({ deliberate }) => deliberate === undefined);
    expect(mistakes, formatReport({ ...report, differing: mistakes })).to.deep.equal([]);
    expect(report.agreeing + report.differing.length).to.equal(2454);
  });

  it('differ in what docs/hpa.md says and as often', () => {
    const table = readFileSync('docs/hpa.md', 'utf8').split('## Deliberate differences')[1] ?? '';
    const rows = [...table.matchAll(/^\| ([a-z0-9 ]+) \| (\d+) \|/gm)].map(([, name, count]) => [
      name,
      Number(count),
    ]);
    const counts = DELIBERATE_DIFFERENCES.map(({ name }) => [
      name,
      report.differing.filter(({ deliberate }) => deliberate === name).length,
    ]);
    expect(rows).to.deep.equal([...counts, ['a percentage beyond 32 bits', 0]]);
  });

  it('would be missed if one changed', () => {
    const changed = cases.slice(0, 200).map(({ place, recorded }) => {
      const expected = { ...recorded.expected, statusWritten: !recorded.expected.statusWritten };
      return { place, recorded: { ...recorded, expected } };
    });
    expect(replayAll(changed).differing.filter(({ deliberate }) => deliberate === undefined)).to.have.length(
      changed.length,
    );
  });
});

describe('formatReport', () => {
  it('ends with the sums and the cases that differ', () => {
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
