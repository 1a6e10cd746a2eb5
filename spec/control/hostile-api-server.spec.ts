import { expect } from 'chai';
import { expectFollowed } from '#spec/support/expect-followed.ts';
import { followHostileServer } from '#spec/support/follow-hostile-server.ts';

describe('a controller with a hostile API server', () => {
  it('has reconciled the last state of every key after five minutes, and nothing came back', async () => {
    const run = await followHostileServer({ objects: 10_000, seconds: 300 });
    expectFollowed(run);
    expect(run.server.opened).to.be.above(100);
    expect(run.server.expired).to.be.above(2);
  });
});
