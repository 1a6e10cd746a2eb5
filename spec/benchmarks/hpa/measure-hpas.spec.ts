import { expect } from 'chai';
import { measureHpas } from './measure-hpas.ts';
import { reportHpas } from './report-hpas.ts';

describe('measureHpas', function () {
  this.timeout(180_000);

  it('measures how late HPAs are decided, the cost, and the latency from a metric to a scale', async () => {
    const result = await measureHpas(
      {
        ...{ name: 'few', what: '20 every 2 s' },
        ...{ hpas: 20, podsPerHpa: 2, namespaces: 2, wanderingPercent: 100, syncPeriodMs: 2000 },
        ...{ settlePeriods: 1, periods: 2, raised: 3 },
      },
      { program: [process.execPath, 'lib/main.ts'], onProgress: () => {} },
    );
    expect(result.counts.usageLists).to.be.within(2, 20);
    expect(result.lagSeconds.half).to.be.greaterThan(0);
    expect(result.reactionsMs).to.have.lengthOf(3);
    expect(result.scalingCounts.scaleWrites).to.be.at.least(3);
    expect(result.residentBytes).to.be.greaterThan(2 ** 20);
    expect(reportHpas(result)).to.match(/metric to scale: half [\d.]+ s, 99 % [\d.]+ s, all [\d.]+ s/);
  });
});
