import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { AnswerBuffer, USUAL_ANSWER_BYTES } from '#lib/resource-metrics/scrape/answer-buffer.ts';
import { AnswerMemory } from '#lib/resource-metrics/scrape/answer-memory.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const LONG = Buffer.alloc(USUAL_ANSWER_BYTES + 1, 'x');

function setUp({ maxBytes = 10 * LONG.length, signal = new AbortController().signal } = {}) {
  const clock = new ManualClock();
  const memory = new AnswerMemory(clock, LONG.length);
  const evicted: Error[] = [];
  const open = () => new AnswerBuffer({ maxBytes, memory, signal, evict: (error) => evicted.push(error) });
  return { clock, memory, open, evicted };
}

describe('AnswerBuffer', () => {
  it('joins the parts', () => {
    using buffer = setUp().open();
    for (const part of ['{"name":"gr', 'öß', 'e"}'])
      expect(buffer.add(Buffer.from(part))).to.equal(undefined);
    expect(String(buffer.contents())).to.equal('{"name":"größe"}');
  });

  it('has a long one wait while others have taken all the room, and go on when they give it back', async () => {
    const { open } = setUp();
    using first = open();
    const second = open();
    using third = open();
    await Promise.all([first.add(LONG), second.add(LONG)]);
    let hasRoom = false;
    const room = third.add(LONG)?.then(() => {
      hasRoom = true;
    });
    for (let times = 0; times < 10; times++) await turn();
    expect(hasRoom).to.equal(false);
    second[Symbol.dispose]();
    await room;
  });

  it('refuses what is longer than is allowed, whether it says so or not', () => {
    using buffer = setUp({ maxBytes: 2 }).open();
    buffer.expect(2);
    buffer.add(Buffer.from('ab'));
    for (const go of [() => buffer.expect(3), () => buffer.add(Buffer.from('c'))]) {
      expect(go)
        .to.throw('the answer is larger than 2 (--kubelet-max-response-bytes)')
        .with.property('bound', 'bytes');
    }
  });

  it('is evicted when it pauses while others wait', async () => {
    const { clock, open, evicted } = setUp();
    using first = open();
    using second = open();
    using third = open();
    await Promise.all([first.add(LONG), second.add(LONG)]);
    third.add(LONG)?.catch(() => {});
    await clock.advance(250);
    expect(evicted.map((error) => 'bound' in error && error.bound)).to.include('memory');
  });

  it('gives up waiting when told to', async () => {
    const aborting = new AbortController();
    const { open } = setUp({ signal: aborting.signal });
    using first = open();
    using second = open();
    using third = open();
    await Promise.all([first.add(LONG), second.add(LONG)]);
    const room = third.add(LONG)?.catch((error: Error) => error.message);
    aborting.abort(new Error('too late'));
    expect(await room).to.equal('too late');
  });
});
