import { expect } from 'chai';
import { ResponseMemory } from '#lib/resource-metrics/scrape/kubelet/response-memory.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const LOOK_MS = 250;

function setup(sharedBytes: number) {
  const clock = new ManualClock();
  const memory = new ResponseMemory(clock, sharedBytes);
  const events: string[] = [];
  const enter = (name: string) => {
    const share = memory.enter({
      onHeld: () => events.push(`${name} held`),
      onEvicted: ({ message }) => {
        events.push(`${name}: ${message}`);
        share[Symbol.dispose]();
      },
    });
    return share;
  };
  return { clock, enter, events };
}

describe('ResponseMemory', () => {
  it('lets the first have what it wants, and the others what they share', () => {
    const { enter, events } = setup(100);
    const [first, second, third] = [enter('first'), enter('second'), enter('third')];
    expect([first.hold(1000), second.hold(60), third.hold(41)]).to.deep.equal([true, true, false]);
    expect(third.hold(40)).to.equal(false); // it has asked for more
    expect(events).to.deep.equal([]);
    second[Symbol.dispose]();
    expect(events).to.deep.equal(['third held']);
  });

  it('counts what is asked for as the whole, not as an addition', () => {
    const { enter } = setup(100);
    const [first, second] = [enter('first'), enter('second')];
    first.hold(1);
    expect([10, 50, 50, 100, 101].map((bytes) => second.hold(bytes))).to.deep.equal([
      true,
      true,
      true,
      true,
      false,
    ]);
  });

  it('keeps a response that asks for more while it waits, and tells it once when it holds all', () => {
    const { enter, events } = setup(100);
    const [first, second, third] = [enter('first'), enter('second'), enter('third')];
    first.hold(1);
    second.hold(90);
    expect([third.hold(20), third.hold(30), third.hold(40)]).to.deep.equal([false, false, false]);
    second[Symbol.dispose]();
    expect(events).to.deep.equal(['third held']);
    expect(third.hold(40)).to.equal(true);
  });

  it('lets the second on, whatever it wants, once it is the first', () => {
    const { enter, events } = setup(100);
    const [first, second] = [enter('first'), enter('second')];
    expect([first.hold(200), second.hold(300)]).to.deep.equal([true, false]);
    first[Symbol.dispose]();
    expect(events).to.deep.equal(['second held']);
  });

  it('gives back what a response held, once', () => {
    const { enter } = setup(100);
    const first = enter('first');
    first.hold(1);
    for (let round = 0; round < 10; round++) {
      const share = enter('other');
      expect(share.hold(100)).to.equal(true);
      share[Symbol.dispose]();
      share[Symbol.dispose]();
    }
    const last = enter('last');
    expect(last.hold(101)).to.equal(false);
  });

  it('evicts who is silent between two looks while others wait, and nobody else', async () => {
    const { clock, enter, events } = setup(100);
    const [first, second, third] = [enter('first'), enter('second'), enter('third')];
    first.hold(1000);
    second.hold(100);
    third.hold(1);
    await clock.advance(LOOK_MS);
    expect(events).to.deep.equal([]);
    first.noteProgress();
    await clock.advance(LOOK_MS);
    expect(events).to.deep.equal([
      'second: it paused in a long response, while others waited to give theirs',
      'third held',
    ]);
    expect(clock.sleeperCount).to.equal(0);
  });

  it('evicts nobody while nobody waits, and stops looking', async () => {
    const { clock, enter, events } = setup(100);
    const [first, second, third] = [enter('first'), enter('second'), enter('third')];
    first.hold(1);
    second.hold(100);
    third.hold(1);
    third[Symbol.dispose]();
    expect(clock.sleeperCount).to.equal(0);
    await clock.advance(10 * LOOK_MS);
    expect(events).to.deep.equal([]);
  });
});
