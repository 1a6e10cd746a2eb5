import { expect } from 'chai';
import { expectInSync } from '#spec/support/expect-in-sync.ts';
import { watchHostileServer } from '#spec/support/watch-hostile-server.ts';

describe('a controller on an API server that is hostile for an hour', function () {
  this.timeout(600_000);

  it('reconciles the last state of every key, and leaves no resources behind', async () => {
    const run = await watchHostileServer({ objects: 10_000, seconds: 3600 });
    expectInSync(run);
    expect(run.server.opened).to.be.above(1_500);
    expect(run.server.expired).to.be.above(30);
  });
});
