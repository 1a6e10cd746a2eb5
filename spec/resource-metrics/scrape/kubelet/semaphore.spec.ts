import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { TurnGate } from '#lib/resource-metrics/scrape/kubelet/semaphore.ts';

const forever = new AbortController().signal;

describe('TurnGate', () => {
  it('lets in as many as its limit and the rest as those leave, in order', async () => {
    const gate = new TurnGate(2);
    const entered: number[] = [];
    const turns = await Promise.all([gate.enter(forever), gate.enter(forever)]);
    const waiting = [1, 2, 3].map(async (each) => {
      const held = await gate.enter(forever);
      entered.push(each);
      return held;
    });
    await turn();
    expect(entered).to.deep.equal([]);
    turns[0][Symbol.dispose]();
    await turn();
    expect(entered).to.deep.equal([1]);
    turns[1][Symbol.dispose]();
    await turn();
    expect(entered).to.deep.equal([1, 2]);
    (await waiting[0])?.[Symbol.dispose]();
    await turn();
    expect(entered).to.deep.equal([1, 2, 3]);
  });

  it('counts a turn that is left twice as left once', async () => {
    const gate = new TurnGate(1);
    const held = await gate.enter(forever);
    held[Symbol.dispose]();
    held[Symbol.dispose]();
    await gate.enter(forever);
    let hasEntered = false;
    void gate.enter(forever).then(() => {
      hasEntered = true;
    });
    await turn();
    expect(hasEntered).to.equal(false);
  });

  it('lets go of one whose signal aborts while it waits', async () => {
    const gate = new TurnGate(1);
    const held = await gate.enter(forever);
    const aborting = new AbortController();
    const refused = gate.enter(aborting.signal).catch((error: Error) => error.message);
    const next = gate.enter(forever);
    aborting.abort(new Error('too late'));
    expect(await refused).to.equal('too late');
    held[Symbol.dispose]();
    await next;
  });
});
