import { expect } from 'chai';
import { Listeners } from '#lib/concurrency/listeners.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

describe('Listeners', () => {
  let clock: ManualClock;
  let logger: RecordingLogger;
  let listeners: Listeners<string>;

  beforeEach(() => {
    clock = new ManualClock();
    logger = new RecordingLogger();
    listeners = new Listeners({ event: 'pods', clock, logger });
  });

  it('calls each that was added, in their order, until it leaves', () => {
    const received: string[] = [];
    const listener = (event: string) => received.push(event);
    const leave = listeners.add(listener);
    listeners.add(listener);
    listeners.notify('a');
    leave();
    listeners.notify('b');
    expect(received).to.deep.equal(['a', 'a', 'b']);
  });

  it('lets a listener leave while it is called', () => {
    const received: string[] = [];
    const leave = listeners.add((event) => {
      received.push(event);
      leave();
    });
    listeners.add((event) => received.push(event));
    listeners.notify('a');
    listeners.notify('b');
    expect(received).to.deep.equal(['a', 'a', 'b']);
  });

  it('logs the failures of each listener, at most once a minute', async () => {
    for (const name of ['first', 'second']) {
      listeners.add((event) => {
        throw new Error(`${name} cannot take ${event}`);
      });
    }
    listeners.notify('a');
    listeners.notify('b');
    await clock.advance(59_999);
    listeners.notify('c');
    await clock.advance(1);
    listeners.notify('d');
    expect(logger.lines.map(({ fields }) => fields.err)).to.deep.equal([
      'first cannot take a',
      'second cannot take a',
      'first cannot take d',
      'second cannot take d',
    ]);
  });
});
