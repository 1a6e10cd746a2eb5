import { expect } from 'chai';
import fc from 'fast-check';
import { encodeDebugResponse } from '#lib/resource-metrics/debug/debug-response.ts';
import { printableLines } from '#lib/telemetry/printable.ts';
import { jsonObjects } from '#spec/support/json-values.ts';

describe('encodeDebugResponse', () => {
  const answers = fc.record({ total: fc.nat(), served: fc.nat(), items: fc.array(jsonObjects) });

  it('gives the indented JSON of the whole, and ends the line', async () => {
    await fc.assert(
      fc.asyncProperty(answers, async (answer) => {
        const plain = printableLines(`${JSON.stringify(answer, undefined, 2)}\n`);
        expect((await encodeDebugResponse(answer)).toString()).to.equal(plain);
      }),
    );
  });

  it('says what kubelets say without effect on a terminal', async () => {
    const items = [{ reason: 'a\x9b2J\u202e\x7f\x1b[H' }];
    const text = (await encodeDebugResponse({ total: 1, served: 0, items })).toString();
    expect(text).to.match(/^[\x20-\x7e\n]*$/);
    expect(JSON.parse(text).items).to.deep.equal(items);
  });

  it('gives up when nobody waits any more', async () => {
    const reason = new Error('gone');
    const items = Array.from({ length: 2_000 }, () => ({ name: 'a' }));
    const error = await encodeDebugResponse({ total: 0, served: 0, items }, AbortSignal.abort(reason)).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).to.equal(reason);
  });
});
