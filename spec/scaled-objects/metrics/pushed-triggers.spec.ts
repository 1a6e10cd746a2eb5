import { expect } from 'chai';
import { type PushActions, PushScalerStreams } from '#lib/scaled-objects/metrics/pushed-triggers.ts';
import type { PreparedTrigger } from '#lib/scaled-objects/preparation/prepared-triggers.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('PushScalerStreams', () => {
  const setUp = () => {
    const clock = new ManualClock();
    const polled: string[] = [];
    const pollNow = (owner: string, metric: string) => void polled.push(`${owner} ${metric}`);
    const followers = new PushScalerStreams({ clock, collection: { pollNow } });
    const watched = new Map<string, { readonly onActive: () => void; readonly signal: AbortSignal }>();
    const trigger = (key: string, ...metricNames: readonly string[]) =>
      ({
        metrics: metricNames.map((metricName) => ({ metricName })),
        push: {
          key,
          subscribe: async (onActive: () => void, signal: AbortSignal) =>
            void watched.set(key, { onActive, signal }),
        },
      }) as unknown as PreparedTrigger;
    const replace = (triggers: readonly PreparedTrigger[], actions: PushActions = {}) =>
      followers.replace('default/web', triggers, actions);
    return { clock, followers, watched, trigger, replace, polled };
  };

  it('polls the metrics of the triggers that were pushed, which count for five seconds', async () => {
    const { clock, followers, watched, trigger, replace, polled } = setUp();
    const [a, b, other] = [trigger('a', 's0'), trigger('a', 's1', 't1'), trigger('b', 's2')];
    let pushed = 0;
    replace([a, b, other], { onPushed: () => void pushed++ });
    expect(watched.size).to.equal(2);
    expect(followers.isPushed('default/web', a)).to.equal(false);
    watched.get('a')?.onActive();
    expect(pushed).to.equal(1);
    expect(polled).to.deep.equal(['default/web s0', 'default/web s1', 'default/web t1']);
    await clock.advance(4999);
    const isPushed = () => [a, b, other].map((one) => followers.isPushed('default/web', one));
    expect(isPushed()).to.deep.equal([true, true, false]);
    expect(followers.isPushed('default/other', a)).to.equal(false);
    await clock.advance(1);
    expect(isPushed()).to.deep.equal([false, false, false]);
  });

  it('polls once a second, however often is pushed, and loses no last push', async () => {
    const { clock, watched, trigger, replace, polled } = setUp();
    replace([trigger('a', 's0'), trigger('b', 's1')]);
    for (let millisecond = 0; millisecond < 2500; millisecond += 10) {
      watched.get('a')?.onActive();
      await clock.advance(10);
    }
    watched.get('b')?.onActive();
    expect(polled).to.deep.equal(Array(3).fill('default/web s0'));
    await clock.advance(500);
    expect(polled.slice(3)).to.deep.equal(['default/web s0', 'default/web s1']);
    await clock.advance(5000);
    expect(polled).to.have.length(5);
  });

  it('polls all metrics of an owner once, whichever of its streams push', async () => {
    const { clock, watched, trigger, replace, polled } = setUp();
    replace([trigger('a', 's0'), trigger('b', 's1')], { pollsAll: true });
    watched.get('a')?.onActive();
    watched.get('b')?.onActive();
    await clock.advance(999);
    expect(polled).to.deep.equal(['default/web s0', 'default/web s1']);
    await clock.advance(1);
    expect(polled).to.have.length(4);
  });

  it('polls 20 metrics per second of a flooding namespace, in turns, and those of other namespaces without delay', async () => {
    const { clock, followers, watched, trigger, polled } = setUp();
    const owners = Array.from({ length: 1000 }, (_, index) => `flood/o${index}`);
    for (const owner of owners) followers.replace(owner, [trigger(owner, 's0')], {});
    followers.replace('calm/web', [trigger('calm', 's0')], {});
    const flood = async (seconds: number) => {
      for (let time = 0; time < 10 * seconds; time++) {
        for (const owner of owners) watched.get(owner)?.onActive();
        await clock.advance(100);
      }
    };
    await flood(5);
    polled.length = 0;
    await flood(60);
    expect(polled.length).to.be.within(1000, 1400);
    expect(new Set(polled).size).to.be.at.least(1000);
    polled.length = 0;
    watched.get('calm')?.onActive();
    await clock.advance(1000);
    watched.get('calm')?.onActive();
    expect(polled.filter((one) => one.startsWith('calm'))).to.have.length(2);
  });

  it('retains existing subscriptions, and ends the others', async () => {
    const { clock, followers, watched, trigger, replace, polled } = setUp();
    replace([trigger('a', 's0'), trigger('b', 's1')]);
    const [a, b] = [watched.get('a'), watched.get('b')];
    a?.onActive();
    b?.onActive();
    replace([trigger('a', 's3')]);
    expect(watched.get('a')).to.equal(a);
    expect([a?.signal.aborted, b?.signal.aborted]).to.deep.equal([false, true]);
    b?.onActive();
    await clock.advance(1000);
    expect(polled).to.deep.equal(['default/web s0']);
    a?.onActive();
    expect(polled).to.deep.equal(['default/web s0', 'default/web s3']);
    a?.onActive();
    followers[Symbol.dispose]();
    await clock.advance(10_000);
    expect([a?.signal.aborted, polled.length, clock.sleeperCount]).to.deep.equal([true, 2, 0]);
  });
});
