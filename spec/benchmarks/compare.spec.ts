import { expect } from 'chai';
import { compare } from './compare.ts';
import { reportComparison } from './report.ts';
import type { ScenarioResult } from './run-scenario.ts';

function result(cpuMillicores: number, requestsPerSecond: number): ScenarioResult {
  const round = {
    requests: 1,
    bodyBytes: 1,
    firstMs: 1,
    medianMs: 2,
    p99Ms: 3,
    maxMs: 4,
    serverCpuMsPerRequest: 1,
  };
  const kind = { name: 'get one pod', path: '/', clients: 4 };
  return {
    scenario: { name: 'tiny', nodes: 1, podsPerNode: 10, containersPerPod: 1 },
    startToReadyMs: 13_000,
    scraping: { cpuMillicores, residentBytes: 100 * 2 ** 20 },
    peakResidentBytes: 2 ** 27,
    requests: [
      { kind, format: 'json', gzip: false, protocol: 'HTTP/2', rounds: [{ ...round, requestsPerSecond }] },
    ],
  };
}

describe('compare', () => {
  const comparisons = compare(
    [result(30, 500), result(10, 100), result(20, 300)],
    [result(80, 100), result(80, 100), result(100, 150)],
  );

  it('divides the medians of our runs by those of the other', () => {
    expect(comparisons.map(({ ratio }) => ratio)).to.deep.equal([1, 0.25, 1, 1, 3, 1]);
    expect(comparisons[1]).to.deep.equal({
      what: 'CPU while scraping',
      unit: 'millicores',
      ours: 20,
      other: 80,
      ratio: 0.25,
    });
  });

  it('is told as a table', () => {
    const lines = reportComparison(comparisons).split('\n');
    expect(lines[0]).to.match(/^\| what +\| unit +\| ours +\| other +\| ours \/ other \|$/);
    expect(lines[3]).to.match(/^\| CPU while scraping +\| millicores \| 20\.0 +\| 80\.0 +\| 0\.25 +\|$/);
    expect(lines[6]).to.match(
      /^\| get one pod, json, HTTP\/2 +\| requests\/s \| 300\.0 +\| 100\.0 +\| 3\.00 +\|$/,
    );
  });
});
