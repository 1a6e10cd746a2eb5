import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { onAbort, raceAbort } from '#lib/time/abort-signal.ts';
import { memoryInUse } from '#spec/support/open-resources.ts';

describe('onAbort', () => {
  it('calls back every listener once', () => {
    const aborting = new AbortController();
    const called: string[] = [];
    for (const name of ['a', 'b']) onAbort(aborting.signal, () => called.push(name));
    expect(called).to.deep.equal([]);
    aborting.abort();
    expect(called).to.deep.equal(['a', 'b']);
  });

  it('calls back at once if the signal has aborted, and never without a signal', () => {
    let calls = 0;
    onAbort(AbortSignal.abort(), () => calls++);
    expect(calls).to.equal(1);
    onAbort(undefined, () => calls++);
    expect(calls).to.equal(1);
  });

  it('does not call back after disposal', () => {
    const aborting = new AbortController();
    let calls = 0;
    const [first, second] = [0, 1].map(() => onAbort(aborting.signal, () => calls++));
    first?.[Symbol.dispose]();
    aborting.abort();
    second?.[Symbol.dispose]();
    expect(calls).to.equal(1);
  });

  it('leaves no listener that keeps a composite signal alive', async () => {
    const { signal } = new AbortController();
    const waitFor = (both: AbortSignal) => {
      onAbort(both, () => {})[Symbol.dispose]();
      return new WeakRef(both);
    };
    const signals = Array.from({ length: 10 }, () => waitFor(AbortSignal.any([signal])));
    await memoryInUse();
    expect(signals.filter((signal) => signal.deref())).to.deep.equal([]);
  });
});

describe('raceAbort', () => {
  it('resolves with the promise, and leaves no listener', async () => {
    const { signal } = new AbortController();
    expect(await raceAbort(Promise.resolve(7), signal)).to.equal(7);
    expect(await raceAbort(Promise.reject(new Error('no')), signal).catch(String)).to.equal('Error: no');
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });

  it("rejects with the signal's reason if it aborts first or has aborted", async () => {
    const controller = new AbortController();
    const waiting = raceAbort(new Promise<never>(() => {}), controller.signal);
    controller.abort(new Error('enough'));
    expect(await waiting.catch(String)).to.equal('Error: enough');
    expect(await raceAbort(Promise.resolve(7), controller.signal).catch(String)).to.equal('Error: enough');
  });

  it('handles a rejection after the signal aborted', async () => {
    const late = Promise.withResolvers<never>();
    const controller = new AbortController();
    const waiting = raceAbort(late.promise, controller.signal);
    controller.abort(new Error('enough'));
    await waiting.catch(() => {});
    late.reject(new Error('unheard')); // an unhandled rejection would end the run
    await new Promise((resolve) => setImmediate(resolve));
  });
});
