import { once } from 'node:events';
import net from 'node:net';
import { expect } from 'chai';
import { systemClock } from '#lib/time/clock.ts';
import { PausableTimeout, startTimerAfterIo } from '#lib/time/pausable-timeout.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RawServer } from '#spec/support/raw-server.ts';

function setup() {
  const clock = new ManualClock();
  const parent = new AbortController();
  const expired = () => new Error('too late');
  const deadline = new PausableTimeout({ clock, durationMs: 1000, signal: parent.signal, expired });
  return { clock, deadline, parent };
}

describe('PausableTimeout', () => {
  it('aborts when its time is over', async () => {
    const { clock, deadline } = setup();
    await clock.advance(999);
    expect(deadline.signal.aborted).to.equal(false);
    await clock.advance(1);
    expect(String(deadline.signal.reason)).to.equal('Error: too late');
  });

  it('stops while it is paused, and resumes with the remaining time', async () => {
    const { clock, deadline } = setup();
    await clock.advance(400);
    const paused = deadline.pause();
    await clock.advance(60_000);
    expect(deadline.signal.aborted).to.equal(false);
    paused[Symbol.dispose]();
    await clock.advance(599);
    expect(deadline.signal.aborted).to.equal(false);
    await clock.advance(1);
    expect(deadline.signal.aborted).to.equal(true);
  });

  it('aborts with its parent, also while paused', () => {
    const { deadline, parent } = setup();
    deadline.pause();
    parent.abort(new Error('the cycle ended'));
    expect(String(deadline.signal.reason)).to.equal('Error: the cycle ended');
  });

  it('leaves no timer when disposed before its pause', () => {
    const { clock, deadline } = setup();
    const paused = deadline.pause();
    deadline[Symbol.dispose]();
    paused[Symbol.dispose]();
    expect(clock.sleeperCount).to.equal(0);
  });

  it('leaves no timer after disposal', () => {
    const { clock, deadline } = setup();
    deadline[Symbol.dispose]();
    expect(clock.sleeperCount).to.equal(0);
  });
});

describe('startTimerAfterIo', () => {
  it('calls back when its time is over', async () => {
    const clock = new ManualClock();
    const calls: number[] = [];
    using _timer = startTimerAfterIo(clock, 1000, () => calls.push(clock.monotonicMs()));
    await clock.advance(999);
    expect(calls).to.deep.equal([]);
    await clock.advance(1);
    expect(calls).to.deep.equal([1000]);
  });

  it('never calls back after disposal, even while the callback is scheduled', async () => {
    let ring = () => {};
    const startTimer = (_: number, callback: () => void) => {
      ring = callback;
      return { [Symbol.dispose]: () => {} };
    };
    const timer = startTimerAfterIo({ startTimer }, 1000, () => expect.fail('called'));
    ring();
    timer[Symbol.dispose]();
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('calls back after pending input was read', async () => {
    await using server = await RawServer.start(() => {});
    const socket = net.connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    while (server.sockets.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const order: string[] = [];
    socket.on('data', () => order.push('data'));
    const { promise, resolve } = Promise.withResolvers<void>();
    using _timer = startTimerAfterIo(systemClock, 20, () => {
      order.push('timer');
      resolve();
    });
    server.sockets[0]?.write('response');
    const untilMs = performance.now() + 60;
    while (performance.now() < untilMs); // blocks the event loop
    await promise;
    expect(order).to.deep.equal(['data', 'timer']);
    socket.destroy();
  });
});
