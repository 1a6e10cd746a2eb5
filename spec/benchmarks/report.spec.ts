import { expect } from 'chai';
import { reportScenario } from './report.ts';

describe('reportScenario', () => {
  it('tells medians over the rounds, and the range of requests a second', () => {
    const round = {
      requests: 100,
      bodyBytes: 1234,
      firstMs: 5,
      medianMs: 1,
      p99Ms: 2,
      maxMs: 9,
      serverCpuMsPerRequest: 0.25,
    };
    const report = reportScenario({
      scenario: { name: 'tiny', nodes: 1, podsPerNode: 10, containersPerPod: 1 },
      startToReadyMs: 13_040,
      scraping: { cpuMillicores: 4.24, residentBytes: 90 * 2 ** 20 },
      peakResidentBytes: 100 * 2 ** 20,
      requests: [
        {
          kind: { name: 'list all pods', path: '/pods', clients: 4 },
          format: 'protobuf',
          gzip: true,
          protocol: 'HTTP/2',
          rounds: [30, 10, 20].map((requestsPerSecond) => ({ ...round, requestsPerSecond })),
        },
      ],
    });
    expect(report).to.match(/^## tiny: 1 nodes × 10 pods × 1 containers$/m);
    expect(report).to.match(/^\| 13\.0 s +\| 4\.2 millicores +\| 90 MiB +\| 100 MiB +\|$/m);
    expect(report).to.match(
      /^\| list all pods \| 4 +\| protobuf, gzip \| HTTP\/2 +\| 1\.2 kB \| 20 \[10–30\] +\| 1\.00 +\| 2\.00 +\| 5\.00 +\| 0\.250 +\|$/m,
    );
  });
});
