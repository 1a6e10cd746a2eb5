import { expect } from 'chai';
import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { ExternalScalers } from '#lib/sources/external-scaler/external-scalers.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { eventually } from '#spec/support/eventually.ts';
import { ExternalScalerServer } from '#spec/support/external-scaler-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const NOTHING = { specs: [], values: [], isActive: false };

describe('ExternalScalers', () => {
  it('reopens a stream with backoff while the scaler is down, and soon after it has sent a message', async () => {
    const clock = new WatchedClock();
    using scalers = new ExternalScalers({ clock, allowedHosts: new AllowedHosts(['127.0.0.0/8']) });
    const gone = await ExternalScalerServer.start(NOTHING);
    const { port } = gone;
    await gone[Symbol.asyncDispose]();
    const object = { name: 'web', namespace: 'default', metadata: {}, secrets: [] };
    const ended = new AbortController();
    let reported = 0;
    const onActive = () => {
      reported++;
    };
    const at = { host: '127.0.0.1', port, tls: undefined };
    const watching = scalers.watchActivity(at, { object, onActive }, ended.signal);
    for (const waitMs of [4_000, 8_000, 16_000]) {
      await eventually(() => clock.slept.at(-1) === waitMs);
      if (waitMs < 16_000) await clock.advance(waitMs);
    }
    const server = await ExternalScalerServer.start(NOTHING, { port });
    await clock.advance(16_000);
    await eventually(() => server.streams.size === 1);
    server.push(true);
    await eventually(() => reported === 1);
    await server[Symbol.asyncDispose]();
    await eventually(() => clock.slept.length === 4);
    expect(clock.slept.slice(0, 3)).to.deep.equal([4_000, 8_000, 16_000]);
    expect(clock.slept[3]).to.be.within(2_000, 4_000); // depending on whether it was broken or has ended
    ended.abort(new Error('done'));
    await watching;
  });

  it('starts one call in each turn of the event loop, in turns of namespaces', async () => {
    const clock = new ManualClock();
    const share = new EventLoopShare(clock);
    using scalers = new ExternalScalers({ clock, share, allowedHosts: new AllowedHosts(['127.0.0.0/8']) });
    await using server = await ExternalScalerServer.start(NOTHING);
    const at = { host: '127.0.0.1', port: server.port, tls: undefined };
    const { signal } = new AbortController();
    const returned: string[] = [];
    const call = async (namespace: string, name: string) => {
      const object = { name, namespace, metadata: {}, secrets: [] };
      await scalers.isActive(at, object, signal);
      returned.push(namespace);
    };
    await call('a', 'first');
    const loops = () => performance.nodeTiming.uvMetricsInfo.loopCount;
    const before = loops();
    const names = Array.from({ length: 100 }, (_, index) => `o${index}`);
    await Promise.all([...names.map((name) => call('a', name)), call('b', 'web')]);
    expect(loops() - before).to.be.at.least(101);
    expect(returned.indexOf('b')).to.be.below(20);
  });

  it('does not mistake the start of many streams for a flood of frames', async () => {
    const clock = new ManualClock();
    using scalers = new ExternalScalers({ clock, allowedHosts: new AllowedHosts(['127.0.0.0/8']) });
    await using server = await ExternalScalerServer.start(NOTHING);
    const at = { host: '127.0.0.1', port: server.port, tls: undefined };
    const ended = new AbortController();
    const active = new Set<number>();
    const watched = Array.from({ length: 300 }, async (_, index) => {
      const object = { name: `o${index}`, namespace: 'default', metadata: {}, secrets: [] };
      await scalers.watchActivity(at, { object, onActive: () => void active.add(index) }, ended.signal);
    });
    await eventually(() => server.streams.size === 300);
    server.push(true); // sends headers with each first message
    await eventually(() => active.size === 300);
    ended.abort(new Error('done'));
    await Promise.all(watched);
  });

  it('reads 500 messages a second of all streams of a namespace, and those of others as if there were none', async () => {
    const clock = new ManualClock();
    using scalers = new ExternalScalers({ clock, allowedHosts: new AllowedHosts(['127.0.0.0/8']) });
    await using server = await ExternalScalerServer.start(NOTHING);
    const at = { host: '127.0.0.1', port: server.port, tls: undefined };
    const ended = new AbortController();
    const read = new Map<string, number>();
    const watched = Array.from({ length: 21 }, async (_, index) => {
      const namespace = index === 20 ? 'calm' : 'flood';
      const object = { name: `o${index}`, namespace, metadata: {}, secrets: [] };
      const onActive = () => void read.set(namespace, (read.get(namespace) ?? 0) + 1);
      await scalers.watchActivity(at, { object, onActive }, ended.signal);
    });
    const reads = (namespace: string) => read.get(namespace) ?? 0;
    await eventually(() => server.streams.size === 21);
    for (let count = 0; count < 90; count++) server.push(true); // below the limit of each stream
    await eventually(() => reads('calm') === 90);
    await eventually(() => reads('flood') >= 1000);
    const atOnce = reads('flood');
    expect(atOnce).to.be.at.most(1020); // one message blocks each stream
    for (let time = 1; time <= 10; time++) {
      await clock.advance(100);
      await eventually(() => reads('flood') >= atOnce + 50 * time - 20);
    }
    expect(reads('flood')).to.be.at.most(atOnce + 520);
    ended.abort(new Error('done'));
    await Promise.all(watched);
  });
});

/** Records the durations of its sleeps. */
class WatchedClock extends ManualClock {
  readonly slept: number[] = [];

  override sleep(...its: Parameters<ManualClock['sleep']>): Promise<void> {
    this.slept.push(its[0]);
    return super.sleep(...its);
  }
}
