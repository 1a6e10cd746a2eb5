import { expect } from 'chai';
import { leadTogether } from '#lib/control/subsystem.ts';
import { errorOf } from '#spec/support/error-of.ts';

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

describe('leadTogether', () => {
  it('aborts all when one fails, and throws its error once nothing acts', async () => {
    const ended: string[] = [];
    const winding = Promise.withResolvers<void>();
    const failed = errorOf(
      leadTogether(
        [
          {
            async lead(signal) {
              await untilAborted(signal);
              ended.push('told');
              await winding.promise;
              ended.push('ended');
              throw new Error('the second');
            },
          },
          { lead: () => Promise.reject(new Error('the first')) },
        ],
        new AbortController().signal,
      ),
    ).then((error) => {
      ended.push('failed');
      return error;
    });
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    expect(ended).to.deep.equal(['told']);
    winding.resolve();
    expect(await failed).to.equal('the first');
    expect(ended).to.deep.equal(['told', 'ended', 'failed']);
  });

  it('resolves when it is aborted, and ignores subsystems that ended by themselves', async () => {
    const ending = new AbortController();
    let isOver = false;
    const running = leadTogether([{ lead: untilAborted }, { lead: async () => {} }], ending.signal).then(
      () => {
        isOver = true;
      },
    );
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    expect(isOver).to.equal(false);
    ending.abort(new Error('program is shutting down'));
    await running;
  });

  it('does not treat the reason of its signal as a failure', async () => {
    const signal = AbortSignal.abort(new Error('lease is lost'));
    await leadTogether([{ lead: async (own) => own.throwIfAborted() }], signal);
  });
});
