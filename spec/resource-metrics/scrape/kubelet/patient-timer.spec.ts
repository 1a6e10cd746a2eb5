import { once } from 'node:events';
import net from 'node:net';
import { expect } from 'chai';
import { startPatientTimer } from '#lib/resource-metrics/scrape/kubelet/patient-timer.ts';
import { systemClock } from '#lib/time/system-clock.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RawServer } from '#spec/support/raw-server.ts';

describe('startPatientTimer', () => {
  it('calls back once its time is over', async () => {
    const clock = new ManualClock();
    const calls: number[] = [];
    using _timer = startPatientTimer(clock, 1000, () => calls.push(clock.monotonicMs()));
    await clock.advance(999);
    expect(calls).to.deep.equal([]);
    await clock.advance(1);
    expect(calls).to.deep.equal([1000]);
  });

  it('does not call back any more once it is disposed of, not even between its time and the callback', async () => {
    let ring = () => {};
    const startTimer = (_: number, callback: () => void) => {
      ring = callback;
      return { [Symbol.dispose]: () => {} };
    };
    const timer = startPatientTimer({ startTimer }, 1000, () => expect.fail('called'));
    ring();
    timer[Symbol.dispose]();
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('lets be read first what had arrived while the event loop was held up', async () => {
    await using server = await RawServer.start(() => {});
    const socket = net.connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    while (server.sockets.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const order: string[] = [];
    socket.on('data', () => order.push('data'));
    const { promise, resolve } = Promise.withResolvers<void>();
    using _timer = startPatientTimer(systemClock, 20, () => {
      order.push('timer');
      resolve();
    });
    server.sockets[0]?.write('response');
    const untilMs = performance.now() + 60;
    while (performance.now() < untilMs); // the event loop is held up
    await promise;
    expect(order).to.deep.equal(['data', 'timer']);
    socket.destroy();
  });
});
