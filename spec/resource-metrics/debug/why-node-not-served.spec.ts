import { expect } from 'chai';
import { explainScrape } from '#lib/resource-metrics/debug/why-node-not-served.ts';
import { NeverAsked, ScrapeError } from '#lib/resource-metrics/scrape/scrape-error.ts';
import { ScrapeRecords } from '#lib/resource-metrics/scrape/scrape-records.ts';

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
