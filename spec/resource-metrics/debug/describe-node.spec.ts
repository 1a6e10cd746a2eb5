import { expect } from 'chai';
import { explainScrape, NodeTrends } from '#lib/resource-metrics/debug/describe-node.ts';
import { NeverAsked, ScrapeError } from '#lib/resource-metrics/scrape/scrape-error.ts';
import { ScrapeRecords } from '#lib/resource-metrics/scrape/scrape-records.ts';
import { nodeUsage, snapshotOf } from '#spec/support/metrics-source.ts';

describe('explainScrape', () => {
  it('tells our own load from a kubelet that fails', () => {
    const scrapes = new ScrapeRecords();
    const explain = (cause: Error) => {
      const error = new ScrapeError('a', cause);
      scrapes.record({ nodeName: 'a', startedAtMs: 0, durationMs: 0, error, ignored: [] });
      return explainScrape({ scrapes, sink: { held: () => undefined } }, 'a');
    };
    expect(explain(new Error('connection refused'))?.code).to.equal('NodeFailing');
    const ours = explain(new NeverAsked());
    expect(ours?.code).to.equal('NodeNotAsked');
    expect(ours?.message).to.match(/it was not asked for more than a cycle: .* \(since 1970-/);
  });
});

describe('NodeTrends', () => {
  const at = (timestampMs: number) => snapshotOf({ nodes: [nodeUsage('a', { timestampMs })] });

  it('keeps the last 40 points of a node and no more', () => {
    const trends = new NodeTrends();
    for (let index = 1; index <= 100; index++) trends.record(at(index * 1000));
    const stamps = trends.of('a').map(({ timestampMs }) => timestampMs);
    expect(stamps).to.have.length(40);
    expect([stamps.at(0), stamps.at(-1)]).to.deep.equal([61_000, 100_000]);
  });

  it('takes a usage that is served again once', () => {
    const trends = new NodeTrends();
    trends.record(at(1000));
    trends.record(at(1000));
    expect(trends.of('a')).to.have.length(1);
  });

  it('forgets nodes that are gone', () => {
    const trends = new NodeTrends();
    trends.record(at(1000));
    trends.retain(() => false);
    expect(trends.of('a')).to.deep.equal([]);
  });
});
