import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { onAbort, raceAbort } from '#lib/time/abort-signal.ts';
import { memoryInUse } from '#spec/support/held-resources.ts';

describe('onAbort', () => {
  it('calls back once, when the signal aborts, everybody who waits for it', () => {
    const aborting = new AbortController();
    const called: string[] = [];
    for (const name of ['a', 'b']) onAbort(aborting.signal, () => called.push(name));
    expect(called).to.deep.equal([]);
    aborting.abort();
    expect(called).to.deep.equal(['a', 'b']);
  });

  it('calls back at once where the signal has aborted, and never where there is none', () => {
    let calls = 0;
    onAbort(AbortSignal.abort(), () => calls++);
    expect(calls).to.equal(1);
    onAbort(undefined, () => calls++);
    expect(calls).to.equal(1);
  });

  it('does not call back who was disposed of', () => {
    const aborting = new AbortController();
    let calls = 0;
    const [first, second] = [0, 1].map(() => onAbort(aborting.signal, () => calls++));
    first?.[Symbol.dispose]();
    aborting.abort();
    second?.[Symbol.dispose]();
    expect(calls).to.equal(1);
  });

  it('leaves nothing that keeps a signal alive, which Node does for one of several that is listened to', async () => {
    const { signal } = new AbortController();
    const waitFor = (both: AbortSignal) => {
      onAbort(both, () => {})[Symbol.dispose]();
      return new WeakRef(both);
    };
    const signals = Array.from({ length: 10 }, () => waitFor(AbortSignal.any([signal])));
    await memoryInUse();
    expect(signals.filter((kept) => kept.deref())).to.deep.equal([]);
  });
});

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
