import { expect } from 'chai';
import { measureScaledObjects } from './measure-scaled-objects.ts';
import { reportScaledObjects } from './report-scaled-objects.ts';

describe('measureScaledObjects', function () {
  this.timeout(180_000);

  it('measures the cost and the punctuality of polls, and the latency from a message to a scale', async () => {
    const result = await measureScaledObjects(
      {
        ...{ objects: 40, namespaces: 2, pollingMs: 1000, busyPercent: 20, pushed: 2 },
        ...{ settleMs: 2000, pollMs: 3000, warmUpMs: 50, requestMs: 500, hangMs: 1500, filled: 3 },
      },
      { program: [process.execPath, 'lib/main.ts'], onProgress: () => {} },
    );
    // 38 own queries; of the rest, 2 belong to namespaces and are shared by 2 objects each.
    expect(result.polls.distinctQueries).to.equal(38 + 36 + 2);
    expect(result.polls.requests).to.be.at.least(76);
    expect(result.polls.deviationsMs).not.to.be.empty;
    expect(result.hanging.requests).to.be.greaterThan(0);
    expect(result.external.requests).to.be.greaterThan(0);
    expect(result.bare.requests).to.be.greaterThan(0);
    expect(result.reactionsMs).to.have.lengthOf(3);
    expect(result.pushReactionsMs).to.have.lengthOf(2);
    expect(result.residentBytes).to.be.greaterThan(2 ** 20);
    expect(reportScaledObjects(result)).to.match(/2 pushed: half [\d.]+ s, 99 % [\d.]+ s, all [\d.]+ s/);
  });
});
