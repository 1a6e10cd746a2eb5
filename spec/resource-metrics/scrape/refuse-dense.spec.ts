import { expect } from 'chai';
import { refuseDense } from '#lib/resource-metrics/scrape/refuse-dense.ts';

const MIB = 1024 * 1024;
const REFUSAL = /too many parts/;

describe('refuseDense', () => {
  it('refuses what parsing would blow up', () => {
    for (const part of ['[', '{"a":', '{},', '[],', '"a":0,']) {
      expect(() => refuseDense(part.repeat((2 * MIB) / part.length)), part).to.throw(REFUSAL);
    }
  });

  it('lets summaries pass, of whatever size and with the shortest names', () => {
    const container =
      '{"name":"a","startTime":"2026-11-21T09:12:18Z","cpu":{"time":"2026-11-21T09:12:34Z","usageNanoCores":0,' +
      '"usageCoreNanoSeconds":1},"memory":{"time":"2026-11-21T09:12:34Z","workingSetBytes":1}},';
    expect(() => refuseDense(container.repeat((2 * MIB) / container.length))).not.to.throw();
  });

  it('lets what is short pass unseen', () => {
    expect(() => refuseDense('['.repeat(MIB))).not.to.throw();
  });
});
