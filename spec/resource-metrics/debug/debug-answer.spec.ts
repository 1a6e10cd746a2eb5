import { expect } from 'chai';
import fc from 'fast-check';
import { encodeDebugAnswer } from '#lib/resource-metrics/debug/debug-answer.ts';
import { jsonObjects } from '#spec/support/json-values.ts';

describe('encodeDebugAnswer', () => {
  const answers = fc.record({ total: fc.nat(), served: fc.nat(), items: fc.array(jsonObjects) });

  it('gives the indented JSON of the whole, and ends the line', async () => {
    await fc.assert(
      fc.asyncProperty(answers, async (answer) => {
        const plain = `${JSON.stringify(answer, undefined, 2)}\n`;
        expect((await encodeDebugAnswer(answer)).toString()).to.equal(plain);
      }),
    );
  });

  it('gives up when nobody waits any more', async () => {
    const reason = new Error('gone');
    const items = Array.from({ length: 2_000 }, () => ({ name: 'a' }));
    const error = await encodeDebugAnswer({ total: 0, served: 0, items }, AbortSignal.abort(reason)).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).to.equal(reason);
  });
});
