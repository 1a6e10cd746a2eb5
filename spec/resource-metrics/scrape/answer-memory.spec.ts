import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { AnswerMemory, type AnswerShare } from '#lib/resource-metrics/scrape/answer-memory.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const never = new AbortController().signal;
const SHARED_BYTES = 100;

function setUp() {
  const clock = new ManualClock();
  const memory = new AnswerMemory(clock, SHARED_BYTES);
  const evicted: string[] = [];
  const enter = (name: string) => memory.enter(({ message }) => evicted.push(`${name}: ${message}`));
  return { clock, enter, evicted };
}

/** Asks for room, and tells whether it has been given by now. */
async function asking(share: AnswerShare, bytes: number, signal = never) {
  const asked = { isGiven: false, refusal: '' };
  share.take(bytes, signal).then(
    () => {
      asked.isGiven = true;
    },
    (reason: Error) => {
      asked.refusal = reason.message;
    },
  );
  await turn();
  return asked;
}

describe('AnswerMemory', () => {
  it('lets the first go on whatever it holds, and the others as long as they have room together', async () => {
    const { enter } = setUp();
    const [first, second, third] = [enter('first'), enter('second'), enter('third')];
    for (let chunk = 0; chunk < 5; chunk++)
      expect((await asking(first, SHARED_BYTES)).isGiven).to.equal(true);
    expect((await asking(second, 60)).isGiven).to.equal(true);
    expect((await asking(third, 40)).isGiven).to.equal(true);
    expect((await asking(second, 1)).isGiven).to.equal(false);
    expect((await asking(third, 1)).isGiven).to.equal(false);
    expect((await asking(first, 1)).isGiven).to.equal(true);
  });

  it('lets those on who wait as soon as others leave', async () => {
    const { clock, enter } = setUp();
    const [first, second, third] = [enter('first'), enter('second'), enter('third')];
    await asking(second, SHARED_BYTES);
    const waiting = await asking(third, 1);
    first[Symbol.dispose](); // the second is the first now
    await turn();
    expect(waiting.isGiven).to.equal(true);
    expect((await asking(third, SHARED_BYTES - 1)).isGiven).to.equal(true);
    const again = await asking(third, 1);
    expect(again.isGiven).to.equal(false);
    const fourth = enter('fourth');
    const [one, other] = [await asking(fourth, SHARED_BYTES), await asking(enter('fifth'), 1)];
    second[Symbol.dispose]();
    await turn();
    expect(again.isGiven).to.equal(true);
    expect(one.isGiven).to.equal(true);
    expect(other.isGiven).to.equal(false);
    fourth[Symbol.dispose]();
    await turn();
    expect(other.isGiven).to.equal(true);
    expect(clock.sleeperCount).to.equal(0);
  });

  it('drops those that keep silent while others wait, and none while nobody does', async () => {
    const { clock, enter, evicted } = setUp();
    const [first, second, third] = [enter('first'), enter('second'), enter('third')];
    await asking(first, 1);
    await asking(second, SHARED_BYTES);
    await clock.advance(60_000);
    expect(evicted).to.deep.equal([]);
    const waiting = await asking(third, 1);
    await clock.advance(200);
    await asking(first, 1);
    await clock.advance(50);
    expect(evicted).to.deep.equal(['second: it paused in a long answer, while others waited to give theirs']);
    second[Symbol.dispose]();
    await turn();
    expect(waiting.isGiven).to.equal(true);
    expect(clock.sleeperCount).to.equal(0);
  });

  it('lets go of one whose signal aborts while it waits, or has aborted before', async () => {
    const { clock, enter } = setUp();
    const [, second, third] = [enter('first'), enter('second'), enter('third')];
    await asking(second, SHARED_BYTES);
    const leaving = new AbortController();
    const waiting = await asking(third, 1, leaving.signal);
    leaving.abort(new Error('too late'));
    await turn();
    expect(waiting).to.deep.equal({ isGiven: false, refusal: 'too late' });
    expect((await asking(third, 1, leaving.signal)).refusal).to.equal('too late');
    expect(clock.sleeperCount).to.equal(0);
  });
});
