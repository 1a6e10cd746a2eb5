import { expect } from 'chai';
import { expectInSync } from '#spec/support/expect-in-sync.ts';
import { watchHostileServer } from '#spec/support/watch-hostile-server.ts';

describe('a controller with a hostile API server', () => {
  it('has reconciled the last state of every key after five minutes, and nothing came back', async () => {
    const run = await watchHostileServer({ objects: 10_000, seconds: 300 });
    expectInSync(run);
    expect(run.server.opened).to.be.above(100);
    expect(run.server.expired).to.be.above(2);
  });
});
