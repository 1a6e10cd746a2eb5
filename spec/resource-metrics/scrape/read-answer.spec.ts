import { PassThrough, Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { AnswerMemory } from '#lib/resource-metrics/scrape/answer-memory.ts';
import {
  type AnswerBody,
  readAnswer,
  readBeginning,
  USUAL_ANSWER_BYTES,
} from '#lib/resource-metrics/scrape/read-answer.ts';
import { eventually } from '#spec/support/eventually.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const never = new AbortController().signal;

/** A body whose chunks are counted as they are taken. */
function bodyOf(...chunks: readonly string[]) {
  const taken = { chunks: 0, wasLeft: false };
  const source = (async function* () {
    try {
      for (const chunk of chunks) {
        taken.chunks++;
        yield Buffer.from(chunk);
      }
    } finally {
      taken.wasLeft = taken.chunks < chunks.length;
    }
  })();
  return { body: Readable.from(source, { highWaterMark: 0 }), taken };
}

describe('readAnswer', () => {
  const long = 'x'.repeat(USUAL_ANSWER_BYTES + 1);
  const longer = long.repeat(2);

  function setUp({ maxBytes = 10 * longer.length } = {}) {
    const clock = new ManualClock();
    const memory = new AnswerMemory(clock, longer.length);
    const read = (body: AnswerBody, signal = never) =>
      readAnswer(body, { maxBytes, memory, signal }).then(String);
    return { clock, memory, read };
  }

  it('joins the chunks, whatever characters they cut through', async () => {
    const bytes = Buffer.from('{"name":"größe"}');
    const body = Readable.from([...bytes].map((byte) => Buffer.of(byte)));
    expect(await setUp().read(body)).to.equal(String(bytes));
  });

  it('takes nothing off the wire of long answers while others have taken all the room', async () => {
    const { memory, read } = setUp();
    const [first, second] = [memory.enter(() => {}), memory.enter(() => {})];
    await second.take(longer.length, never);
    const { body, taken } = bodyOf(long, 'y', 'z');
    const answer = read(body);
    await eventually(() => taken.chunks > 0);
    for (let times = 0; times < 10; times++) await turn();
    expect(taken.chunks).to.equal(1);
    expect(await read(bodyOf('short').body)).to.equal('short');
    second[Symbol.dispose]();
    expect(await answer).to.equal(`${long}yz`);
    first[Symbol.dispose]();
  });

  it('gives its room back when it has ended, well or not', async () => {
    const { memory, read } = setUp({ maxBytes: longer.length });
    using _first = memory.enter(() => {});
    for (let times = 0; times < 3; times++) {
      expect(await read(bodyOf(longer).body)).to.equal(longer);
      expect(await read(bodyOf(longer, 'y').body).catch((error: Error) => error.message)).to.match(
        /^the answer is larger/,
      );
    }
  });

  it('refuses what is longer than is allowed, and leaves the rest', async () => {
    const { read } = setUp({ maxBytes: 2 });
    const { body, taken } = bodyOf('ab', 'c', 'd', 'e');
    const failure = await read(body).catch((error: Error) => error);
    expect(failure).to.include({
      bound: 'bytes',
      message: 'the answer is larger than 2 (--kubelet-max-response-bytes)',
    });
    await eventually(() => taken.wasLeft);
  });

  it('fails when it pauses while others wait', async () => {
    const { clock, memory, read } = setUp();
    const pausing = new PassThrough();
    pausing.write(longer);
    using _first = memory.enter(() => {});
    const paused = read(pausing).catch((error: Error) => error);
    await eventually(() => pausing.readableLength === 0);
    await turn();
    const other = read(bodyOf(longer).body);
    while (clock.sleeperCount === 0) await turn();
    await clock.advance(250);
    expect(await paused).to.include({ bound: 'memory' });
    expect(await other).to.equal(longer);
  });

  it('gives up waiting when told to, and leaves the body', async () => {
    const { clock, memory, read } = setUp();
    const [, second] = [memory.enter(() => {}), memory.enter(() => {})];
    await second.take(longer.length, never);
    const aborting = new AbortController();
    const { body, taken } = bodyOf(long, 'y');
    const answer = read(body, aborting.signal).catch((error: Error) => error.message);
    await eventually(() => clock.sleeperCount === 1);
    aborting.abort(new Error('too late'));
    expect(await answer).to.equal('too late');
    await eventually(() => taken.wasLeft);
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
