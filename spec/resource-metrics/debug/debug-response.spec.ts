import { expect } from 'chai';
import fc from 'fast-check';
import { TimeSlices } from '#lib/concurrency/time-slices.ts';
import { encodeDebugResponse } from '#lib/resource-metrics/debug/debug-response.ts';
import { printableLines } from '#lib/telemetry/printable.ts';
import { jsonObjects } from '#spec/support/json-values.ts';

describe('encodeDebugResponse', () => {
  const slices = new TimeSlices();
  const responses = fc.record({ total: fc.nat(), served: fc.nat(), items: fc.array(jsonObjects) });

  it('gives the indented JSON of the whole, and ends the line', async () => {
    await fc.assert(
      fc.asyncProperty(responses, async (response) => {
        const plain = printableLines(`${JSON.stringify(response, undefined, 2)}\n`);
        expect((await encodeDebugResponse(response, { slices })).toString()).to.equal(plain);
      }),
    );
  });

  it('says what kubelets say without effect on a terminal', async () => {
    const items = [{ reason: 'a\x9b2J\u202e\x7f\x1b[H' }];
    const text = (await encodeDebugResponse({ total: 1, served: 0, items }, { slices })).toString();
    expect(text).to.match(/^[\x20-\x7e\n]*$/);
    expect(JSON.parse(text).items).to.deep.equal(items);
  });

  it('gives up when nobody waits any more', async () => {
    const reason = new Error('gone');
    const items = Array.from({ length: 2_000 }, () => ({ name: 'a' }));
    const error = await encodeDebugResponse(
      { total: 0, served: 0, items },
      { slices, signal: AbortSignal.abort(reason) },
    ).catch((thrown: unknown) => thrown);
    expect(error).to.equal(reason);
  });
});
