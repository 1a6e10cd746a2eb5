import { expect } from 'chai';
import { NotScrapedError, ScrapeError } from '#lib/resource-metrics/scrape/scrape-error.ts';
import { ScrapeRecords } from '#lib/resource-metrics/scrape/scrape-records.ts';
import type { ScrapeOutcome } from '#lib/resource-metrics/scrape/scraper.ts';

describe('ScrapeRecords', () => {
  it('records time and address of the last scrape', () => {
    const records = new ScrapeRecords();
    records.record(outcome({ startedAtMs: 1000 }));
    expect(records.get('a')).to.deep.equal({
      startedAtMs: 1000,
      durationMs: 20,
      address: '10.0.0.7:10250',
      endpoint: '/stats/summary',
      succeededAtMs: 1000,
      ignored: [],
      failure: undefined,
    });
  });

  it('records the start of a failure until the next success', () => {
    const records = new ScrapeRecords();
    const fail = (cause: string) => new ScrapeError('a', new Error(cause), { address: '10.0.0.7:10250' });
    records.record(outcome({ startedAtMs: 1000 }));
    records.record(outcome({ startedAtMs: 2000, error: fail('connection refused') }));
    records.record(outcome({ startedAtMs: 3000, error: fail('no route to the host') }));
    expect(records.get('a')).to.deep.include({ startedAtMs: 3000, succeededAtMs: 1000 });
    expect(records.get('a')?.failure).to.deep.equal({
      message: 'Cannot scrape node "a" at 10.0.0.7:10250: no route to the host',
      sinceMs: 2000,
      count: 2,
      wasScraped: true,
    });
    records.record(outcome({ startedAtMs: 4000 }));
    expect(records.get('a')?.failure).to.equal(undefined);
  });

  it('distinguishes a delayed scrape from a failed one', () => {
    const records = new ScrapeRecords();
    const error = new ScrapeError('a', new NotScrapedError());
    records.record(outcome({ error }));
    expect(records.get('a')?.failure).to.include({ wasScraped: false, count: 1 });
    expect(records.get('a')).to.include({ succeededAtMs: undefined });
  });

  it('records the address of a kubelet that was not scraped', () => {
    const records = new ScrapeRecords();
    const error = new ScrapeError('a', new NotScrapedError(), { address: '10.0.0.8:10250' });
    records.record(outcome({ error, address: undefined, endpoint: undefined }));
    expect(records.get('a')).to.include({ address: '10.0.0.8:10250', endpoint: undefined });
    records.record(outcome({ error: new ScrapeError('a', new Error('no address')), address: undefined }));
    expect(records.get('a')).to.include({ address: undefined });
  });

  it('removes nodes that are gone', () => {
    const records = new ScrapeRecords();
    records.record(outcome({}));
    records.retain((nodeName) => nodeName === 'a');
    expect(records.get('a')).to.not.equal(undefined);
    records.retain(() => false);
    expect(records.get('a')).to.equal(undefined);
  });
});

function outcome(changes: Partial<ScrapeOutcome>): ScrapeOutcome {
  return {
    nodeName: 'a',
    startedAtMs: 0,
    durationMs: 20,
    error: undefined,
    ignored: [],
    address: '10.0.0.7:10250',
    endpoint: '/stats/summary',
    ...changes,
  };
}
