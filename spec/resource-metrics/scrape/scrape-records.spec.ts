import { expect } from 'chai';
import { NeverAsked, ScrapeError } from '#lib/resource-metrics/scrape/scrape-error.ts';
import { ScrapeRecords } from '#lib/resource-metrics/scrape/scrape-records.ts';
import type { ScrapeOutcome } from '#lib/resource-metrics/scrape/scraper.ts';

describe('ScrapeRecords', () => {
  it('keeps when and where a node was scraped last', () => {
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

  it('keeps since when a node fails, whatever the causes, until it succeeds', () => {
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
      wasAsked: true,
    });
    records.record(outcome({ startedAtMs: 4000 }));
    expect(records.get('a')?.failure).to.equal(undefined);
  });

  it('tells a kubelet that was never asked from one that failed', () => {
    const records = new ScrapeRecords();
    const error = new ScrapeError('a', new NeverAsked());
    records.record(outcome({ error }));
    expect(records.get('a')?.failure).to.include({ wasAsked: false, count: 1 });
    expect(records.get('a')).to.include({ succeededAtMs: undefined });
  });

  it('knows the address of a kubelet that could not be asked, where it has one', () => {
    const records = new ScrapeRecords();
    const error = new ScrapeError('a', new NeverAsked(), { address: '10.0.0.8:10250' });
    records.record(outcome({ error, address: undefined, endpoint: undefined }));
    expect(records.get('a')).to.include({ address: '10.0.0.8:10250', endpoint: undefined });
    records.record(outcome({ error: new ScrapeError('a', new Error('no address')), address: undefined }));
    expect(records.get('a')).to.include({ address: undefined });
  });

  it('forgets nodes that are gone', () => {
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
