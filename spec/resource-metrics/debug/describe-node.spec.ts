import { expect } from 'chai';
import { explainScrape, NodeTrends } from '#lib/resource-metrics/debug/describe-node.ts';
import { NotScrapedError, ScrapeError } from '#lib/resource-metrics/scrape/scrape-error.ts';
import { ScrapeRecords } from '#lib/resource-metrics/scrape/scrape-records.ts';
import { nodeUsage, snapshotOf } from '#spec/support/metrics-source.ts';

describe('explainScrape', () => {
  it('distinguishes local load from a failing kubelet', () => {
    const scrapes = new ScrapeRecords();
    const explain = (cause: Error) => {
      const error = new ScrapeError('a', cause);
      scrapes.record({ nodeName: 'a', startedAtMs: 0, durationMs: 0, error, ignored: [] });
      return explainScrape({ scrapes, sink: { cachedNode: () => undefined } }, 'a');
    };
    expect(explain(new Error('connection refused'))?.code).to.equal('NodeFailing');
    const ours = explain(new NotScrapedError());
    expect(ours?.code).to.equal('NodeScrapeDelayed');
    expect(ours?.message).to.match(/the scrape waits for more than a cycle: .* \(since 1970-/);
  });
});

describe('NodeTrends', () => {
  const at = (timestampMs: number) => snapshotOf({ nodes: [nodeUsage('a', { timestampMs })] });

  it('retains the last 40 usages of a node', () => {
    const trends = new NodeTrends();
    for (let index = 1; index <= 100; index++) trends.record(at(index * 1000));
    const stamps = trends.of('a').map(({ timestampMs }) => timestampMs);
    expect(stamps).to.have.length(40);
    expect([stamps.at(0), stamps.at(-1)]).to.deep.equal([61_000, 100_000]);
  });

  it('records a repeated usage once', () => {
    const trends = new NodeTrends();
    trends.record(at(1000));
    trends.record(at(1000));
    expect(trends.of('a')).to.have.length(1);
  });

  it('removes nodes that are gone', () => {
    const trends = new NodeTrends();
    trends.record(at(1000));
    trends.retain(() => false);
    expect(trends.of('a')).to.deep.equal([]);
  });
});
