import { expect } from 'chai';
import { onAbort } from '#lib/time/on-abort.ts';
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
