import { expect } from 'chai';
import { runDay } from './run-day.ts';

describe('runDay', () => {
  it('finds no wrong value, and no absence without a reason', async () => {
    const size = { seed: 7, nodes: 12, podsPerNode: 6, hours: 2, pace: 10 };
    const { events, faults, pods, nodes, errors } = await runDay(size);
    expect(faults).to.deep.equal([]);
    expect(Math.min(...events.values()), 'the rarest event').to.be.above(0);
    expect(pods.served / pods.lived).to.be.above(0.8);
    expect(nodes.served / nodes.lived).to.be.above(0.85);
    expect(errors['container resource'].worst).to.be.below(0.01);
    // Ten times the slow responses of a bad day.
    expect(errors['container on demand'].median).to.be.below(0.001);
    for (const kind of ['container on demand', 'container cached', 'node summary'] as const)
      expect(errors[kind].p99, kind).to.be.below(0.07);
  });

  it('is the same every time', async () => {
    const size = { seed: 3, nodes: 4, podsPerNode: 3, hours: 1, pace: 10 };
    expect(await runDay(size)).to.deep.equal(await runDay(size));
  });
});
