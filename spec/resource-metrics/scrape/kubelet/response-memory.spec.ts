import { expect } from 'chai';
import { ResponseMemory } from '#lib/resource-metrics/scrape/kubelet/response-memory.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const POLL_INTERVAL_MS = 250;

function setup(sharedBytes: number) {
  const clock = new ManualClock();
  const memory = new ResponseMemory(clock, sharedBytes);
  const events: string[] = [];
  const enter = (name: string) => {
    const share = memory.open({
      onReserved: () => events.push(`${name} reserved`),
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
  it('gives the oldest response all it needs, and limits the others together', () => {
    const { enter, events } = setup(100);
    const [first, second, third] = [enter('first'), enter('second'), enter('third')];
    expect([first.reserve(1000), second.reserve(60), third.reserve(41)]).to.deep.equal([true, true, false]);
    expect(third.reserve(40)).to.equal(false); // requests more in total
    expect(events).to.deep.equal([]);
    second[Symbol.dispose]();
    expect(events).to.deep.equal(['third reserved']);
  });

  it('treats requests as totals', () => {
    const { enter } = setup(100);
    const [first, second] = [enter('first'), enter('second')];
    first.reserve(1);
    expect([10, 50, 50, 100, 101].map((bytes) => second.reserve(bytes))).to.deep.equal([
      true,
      true,
      true,
      true,
      false,
    ]);
  });

  it('notifies a waiting response once when all of its memory is reserved', () => {
    const { enter, events } = setup(100);
    const [first, second, third] = [enter('first'), enter('second'), enter('third')];
    first.reserve(1);
    second.reserve(90);
    expect([third.reserve(20), third.reserve(30), third.reserve(40)]).to.deep.equal([false, false, false]);
    second[Symbol.dispose]();
    expect(events).to.deep.equal(['third reserved']);
    expect(third.reserve(40)).to.equal(true);
  });

  it('gives the second response all it needs once it is the oldest', () => {
    const { enter, events } = setup(100);
    const [first, second] = [enter('first'), enter('second')];
    expect([first.reserve(200), second.reserve(300)]).to.deep.equal([true, false]);
    first[Symbol.dispose]();
    expect(events).to.deep.equal(['second reserved']);
  });

  it('releases memory once', () => {
    const { enter } = setup(100);
    const first = enter('first');
    first.reserve(1);
    for (let round = 0; round < 10; round++) {
      const share = enter('other');
      expect(share.reserve(100)).to.equal(true);
      share[Symbol.dispose]();
      share[Symbol.dispose]();
    }
    const last = enter('last');
    expect(last.reserve(101)).to.equal(false);
  });

  it('evicts only responses that stall for two checks while others wait', async () => {
    const { clock, enter, events } = setup(100);
    const [first, second, third] = [enter('first'), enter('second'), enter('third')];
    first.reserve(1000);
    second.reserve(100);
    third.reserve(1);
    await clock.advance(POLL_INTERVAL_MS);
    expect(events).to.deep.equal([]);
    first.recordProgress();
    await clock.advance(POLL_INTERVAL_MS);
    expect(events).to.deep.equal([
      'second: the response stalled while other responses waited for memory',
      'third reserved',
    ]);
    expect(clock.sleeperCount).to.equal(0);
  });

  it('evicts none while none waits, and stops checking', async () => {
    const { clock, enter, events } = setup(100);
    const [first, second, third] = [enter('first'), enter('second'), enter('third')];
    first.reserve(1);
    second.reserve(100);
    third.reserve(1);
    third[Symbol.dispose]();
    expect(clock.sleeperCount).to.equal(0);
    await clock.advance(10 * POLL_INTERVAL_MS);
    expect(events).to.deep.equal([]);
  });
});
