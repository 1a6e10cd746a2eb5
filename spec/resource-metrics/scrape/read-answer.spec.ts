import { expect } from 'chai';
import { readAnswer, readBeginning, USUAL_ANSWER_BYTES } from '#lib/resource-metrics/scrape/read-answer.ts';
import { TurnGate } from '#lib/resource-metrics/scrape/turn-gate.ts';
import { eventually } from '#spec/support/eventually.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { until } from '#spec/support/until.ts';

const never = new AbortController().signal;

/** A body whose chunks are counted as they are taken. */
function bodyOf(...chunks: readonly string[]) {
  const taken = { chunks: 0, wasLeft: false };
  const body = (async function* () {
    try {
      for (const chunk of chunks) {
        taken.chunks++;
        yield Buffer.from(chunk);
      }
    } finally {
      taken.wasLeft = taken.chunks < chunks.length;
    }
  })();
  return { body, taken };
}

describe('readAnswer', () => {
  const clock = new ManualClock();
  const long = 'x'.repeat(USUAL_ANSWER_BYTES + 1);

  it('joins the chunks, whatever characters they cut through', async () => {
    const bytes = Buffer.from('{"name":"größe"}');
    const body = (async function* () {
      for (const byte of bytes) yield Buffer.of(byte);
    })();
    expect(await readAnswer(body, { longAnswers: new TurnGate(1), clock, signal: never })).to.equal(
      String(bytes),
    );
  });

  it('reads long answers a few at a time, and takes nothing off the wire of those that wait', async () => {
    const longAnswers = new TurnGate(1);
    const held = await longAnswers.enter(never);
    const { body, taken } = bodyOf(long, 'y');
    const answer = readAnswer(body, { longAnswers, clock, signal: never });
    await eventually(() => taken.chunks === 1);
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(taken.chunks).to.equal(1);
    expect(await readAnswer(bodyOf('short').body, { longAnswers, clock, signal: never })).to.equal('short');
    held[Symbol.dispose]();
    expect(await answer).to.equal(`${long}y`);
    using _free = await longAnswers.enter(never);
  });

  it('lets others on while it stalls, and takes another turn when it goes on', async () => {
    const longAnswers = new TurnGate(1);
    const goesOn = Promise.withResolvers<void>();
    const stalling = (async function* () {
      yield Buffer.from(long);
      await goesOn.promise;
      yield Buffer.from('y');
    })();
    const stalled = readAnswer(stalling, { longAnswers, clock, signal: never });
    await until(clock, () => clock.sleeperCount === 1);
    await clock.advance(250);
    expect(await readAnswer(bodyOf(long).body, { longAnswers, clock, signal: never })).to.equal(long);
    goesOn.resolve();
    expect(await stalled).to.equal(`${long}y`);
    expect(clock.sleeperCount).to.equal(0);
    using _free = await longAnswers.enter(never);
  });

  it('gives up waiting when told to, and leaves the body', async () => {
    const longAnswers = new TurnGate(1);
    using _held = await longAnswers.enter(never);
    const aborting = new AbortController();
    const { body, taken } = bodyOf(long, 'y');
    const answer = readAnswer(body, { longAnswers, clock, signal: aborting.signal }).catch(
      (error: Error) => error.message,
    );
    await eventually(() => taken.chunks === 1);
    aborting.abort(new Error('too late'));
    expect(await answer).to.equal('too late');
    expect(taken.wasLeft).to.equal(true);
  });
});

describe('readBeginning', () => {
  it('reads no further than it needs', async () => {
    const { body, taken } = bodyOf('abc', 'def', 'ghi');
    expect(await readBeginning(body, 4)).to.equal('abcd');
    expect(taken).to.deep.equal({ chunks: 2, wasLeft: true });
  });

  it('reads what is shorter to its end', async () => {
    expect(await readBeginning(bodyOf('abc').body, 4)).to.equal('abc');
  });
});
