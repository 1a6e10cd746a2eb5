import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { raceAbort } from '#lib/time/race-abort.ts';

describe('raceAbort', () => {
  it('gives what the promise gives, and leaves no listener at the signal', async () => {
    const { signal } = new AbortController();
    expect(await raceAbort(Promise.resolve(7), signal)).to.equal(7);
    expect(await raceAbort(Promise.reject(new Error('no')), signal).catch(String)).to.equal('Error: no');
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });

  it("throws the signal's reason when that aborts first, or has already", async () => {
    const controller = new AbortController();
    const waiting = raceAbort(new Promise<never>(() => {}), controller.signal);
    controller.abort(new Error('enough'));
    expect(await waiting.catch(String)).to.equal('Error: enough');
    expect(await raceAbort(Promise.resolve(7), controller.signal).catch(String)).to.equal('Error: enough');
  });

  it('takes care of a promise that fails when nobody waits for it any more', async () => {
    const late = Promise.withResolvers<never>();
    const controller = new AbortController();
    const waiting = raceAbort(late.promise, controller.signal);
    controller.abort(new Error('enough'));
    await waiting.catch(() => {});
    late.reject(new Error('unheard')); // an unhandled rejection would end the run
    await new Promise((resolve) => setImmediate(resolve));
  });
});
