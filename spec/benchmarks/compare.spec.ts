import { expect } from 'chai';
import { measuredResult } from '#spec/support/measured-result.ts';
import { compare } from './compare.ts';
import { reportComparison } from './report.ts';

describe('compare', () => {
  const result = (cpuMillicores: number, requestsPerSecond: number) =>
    measuredResult({ cpuMillicores, requestsPerSecond: [requestsPerSecond] });
  const comparisons = compare(
    [result(30, 500), result(10, 100), result(20, 300)],
    [result(80, 100), result(80, 100), result(100, 150)],
  );

  it('divides the medians of our runs by those of the other', () => {
    expect(comparisons.slice(0, 6).map(({ ratio }) => ratio)).to.deep.equal([1, 0.25, 1, 1, 3, 1]);
    expect(comparisons[1]).to.deep.equal({
      what: 'CPU while scraping',
      unit: 'millicores',
      ours: 20,
      other: 80,
      ratio: 0.25,
    });
  });

  it('compares first requests and background loads, and latencies of requests', () => {
    expect(comparisons.slice(6).map(({ what, unit }) => `${what}: ${unit}`)).to.deep.equal([
      'first after a cycle: list all pods, json, gzip: ms',
      'the same, asked the cycle before: list all pods, json, gzip: ms',
      '500 autoscalers: millicores',
      '500 autoscalers: resident MiB',
      '500 autoscalers: median ms',
      '500 autoscalers: p99 ms',
      '100 pods/s: millicores',
      '100 pods/s: resident MiB',
    ]);
  });

  it('is formatted as a table', () => {
    const lines = reportComparison(comparisons).split('\n');
    expect(lines[0]).to.match(/^\| what +\| unit +\| ours +\| other +\| ours \/ other \|$/);
    expect(lines[3]).to.match(/^\| CPU while scraping +\| millicores +\| 20\.0 +\| 80\.0 +\| 0\.25 +\|$/);
    expect(lines[6]).to.match(
      /^\| list all pods, protobuf, gzip, HTTP\/2 +\| requests\/s +\| 300\.0 +\| 100\.0 +\| 3\.00 +\|$/,
    );
  });
});
