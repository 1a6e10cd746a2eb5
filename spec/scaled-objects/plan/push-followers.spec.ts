import { expect } from 'chai';
import { PushFollowers } from '#lib/scaled-objects/plan/push-followers.ts';
import type { PlannedTrigger } from '#lib/scaled-objects/triggers/planned-object.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('PushFollowers', () => {
  const setUp = () => {
    const clock = new ManualClock();
    const followers = new PushFollowers({ clock });
    const followed = new Map<string, { readonly onActive: () => void; readonly signal: AbortSignal }>();
    const trigger = (key: string, index = 0): PlannedTrigger => ({
      ...{
        index,
        type: 'external-push',
        name: undefined,
        isCached: false,
        unmatched: [],
        missing: [],
        metrics: [],
        resource: undefined,
      },
      error: undefined,
      push: {
        key,
        follow: async (onActive, signal) => void followed.set(key, { onActive, signal }),
      },
    });
    const heard: number[][] = [];
    const replace = (triggers: readonly PlannedTrigger[]) =>
      followers.replace('default/web', triggers, (pushed) => heard.push(pushed.map(({ index }) => index)));
    return { clock, followers, followed, trigger, replace, heard };
  };

  it('tells which triggers were pushed, for five seconds', async () => {
    const { clock, followers, followed, trigger, replace, heard } = setUp();
    const [a, b, other] = [trigger('a'), trigger('a', 1), trigger('b', 2)];
    replace([a, b, other]);
    expect(followed.size).to.equal(2);
    expect(followers.isPushed('default/web', a)).to.equal(false);
    followed.get('a')?.onActive();
    expect(heard).to.deep.equal([[0, 1]]);
    await clock.advance(4999);
    expect([a, b, other].map((one) => followers.isPushed('default/web', one))).to.deep.equal([
      true,
      true,
      false,
    ]);
    expect(followers.isPushed('default/other', a)).to.equal(false);
    await clock.advance(1);
    expect(followers.isPushed('default/web', a)).to.equal(false);
  });

  it('tells no more than once a second, however often is pushed', async () => {
    const { clock, followed, trigger, replace, heard } = setUp();
    replace([trigger('a')]);
    for (let millisecond = 0; millisecond < 2500; millisecond += 10) {
      followed.get('a')?.onActive();
      await clock.advance(10);
    }
    expect(heard).to.have.length(3);
  });

  it('goes on with what stays, and ends what does not', () => {
    const { followers, followed, trigger, replace, heard } = setUp();
    replace([trigger('a'), trigger('b', 1)]);
    const [a, b] = [followed.get('a'), followed.get('b')];
    replace([trigger('a', 3)]);
    expect(followed.get('a')).to.equal(a);
    expect([a?.signal.aborted, b?.signal.aborted]).to.deep.equal([false, true]);
    a?.onActive();
    expect(heard).to.deep.equal([[3]]);
    followers[Symbol.dispose]();
    expect(a?.signal.aborted).to.equal(true);
  });
});
