import { expect } from 'chai';
import { measureMetricsAdapter } from './measure-metrics-adapter.ts';
import { reportMetricsAdapter } from './report-metrics-adapter.ts';

describe('measureMetricsAdapter', () => {
  it('measures requests, with and without hanging sources, and the number of queries for shared metrics', async () => {
    const scenario = { hpas: 12, podsPerHpa: 2, namespaces: 3, intervalSeconds: 2 };
    const times = { settleMs: 1000, collectMs: 3000, requestMs: 300, warmUpMs: 50 };
    const result = await measureMetricsAdapter(
      { ...scenario, ...times },
      { program: [process.execPath, 'lib/main.ts'], onProgress: () => {} },
    );
    expect(result.requested.distinctQueries).to.equal(12 + 3);
    expect(result.requested.queries)
      .to.be.greaterThan(0)
      .and.at.most(15 * 4);
    expect(result.requested.pods)
      .to.be.greaterThan(0)
      .and.at.most(24 * 4);
    expect(result.requests.map(({ what }) => what)).to.have.length(7);
    for (const { requests, medianMs, p99Ms } of result.requests) {
      expect(requests).to.be.greaterThan(0);
      expect(p99Ms).to.be.at.least(medianMs);
    }
    expect(result.residentBytes).to.be.greaterThan(2 ** 20);
    expect(reportMetricsAdapter(result)).to.match(
      /an interval: \d+ requests of Prometheus for 24 External metrics/,
    );
  });
});
