import { expect } from 'chai';
import { BatchDelivery } from '#lib/resource-metrics/scrape/batch-delivery.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { nodeAnswer } from '#spec/support/points.ts';

function setup(patienceMs = 1400) {
  const clock = new ManualClock();
  const delivered: { readonly atMs: number; readonly nodes: readonly string[] }[] = [];
  const delivery = new BatchDelivery({
    clock,
    patienceMs,
    deliver: ({ answers }) =>
      delivered.push({ atMs: clock.monotonicMs(), nodes: answers.map(({ nodeName }) => nodeName) }),
  });
  return { clock, delivered, delivery, add: (nodeName: string) => delivery.add(nodeAnswer({ nodeName })) };
}

describe('BatchDelivery', () => {
  it('delivers what it holds when its patience ends, without those still to come', async () => {
    const { clock, delivered, add } = setup();
    add('a');
    await clock.advance(1000);
    add('b');
    expect(delivered).to.deep.equal([]);
    await clock.advance(400);
    expect(delivered).to.deep.equal([{ atMs: 1400, nodes: ['a', 'b'] }]);
  });

  it('delivers later answers together, at most four times a second', async () => {
    const { clock, delivered, add } = setup();
    await clock.advance(1400);
    for (let index = 0; index < 20; index++) {
      add(`n${index}`);
      await clock.advance(50);
    }
    expect(delivered.map(({ atMs }) => atMs)).to.deep.equal([1650, 1900, 2150, 2400]);
    expect(delivered.flatMap(({ nodes }) => nodes)).to.have.length(20);
  });

  it('delivers at once when told to, and nothing when it holds nothing', () => {
    const { delivered, delivery, add } = setup();
    delivery.flush();
    add('a');
    delivery.flush();
    expect(delivered).to.deep.equal([{ atMs: 0, nodes: ['a'] }]);
  });

  it('leaves no timer behind', () => {
    const { clock, delivery } = setup();
    delivery[Symbol.dispose]();
    expect(clock.sleeperCount).to.equal(0);
  });
});
