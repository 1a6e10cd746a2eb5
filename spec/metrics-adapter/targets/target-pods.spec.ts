import { expect } from 'chai';
import { type FollowedPods, isReadyFor, TargetPods } from '#lib/metrics-adapter/targets/target-pods.ts';

const { signal } = new AbortController();
const POD = {
  ...{ namespace: 'default', name: 'web-0', uid: 'u', ip: '10.0.0.7', readySinceMs: 1_000 },
  labels: { app: 'web', tier: 'front' },
};

describe('TargetPods', () => {
  for (const [selector, index, word] of [
    ['app=web', 'labels', 'default\napp=web'],
    ['app==web,tier', 'labels', 'default\napp=web'],
    ['tier!=back,app in (web)', 'labels', 'default\napp=web'],
    ['app in (api,web)', 'namespace', 'default'],
    ['app', 'namespace', 'default'],
    ['tier notin (back)', 'namespace', 'default'],
    ['tier!=back', 'namespace', 'default'],
  ] as const)
    it(`looks for ${selector} by ${index}, and at no more pods than have that`, async () => {
      const { pods, looked } = setUp();
      expect(await pods.select('default', selector, signal)).to.deep.equal([POD]);
      expect(looked).to.deep.equal(['synced', [index, word]]);
    });

  it('selects by all requirements', async () => {
    const { pods } = setUp();
    expect(await pods.select('default', 'app=web,tier=back', signal)).to.deep.equal([]);
  });

  it('takes a pod for live by its name and identity', () => {
    const { pods } = setUp();
    expect(pods.live('default', { name: 'web-0', uid: 'u' })).to.equal(POD);
    expect(pods.live('default', { name: 'web-0', uid: 'before' })).to.equal(undefined);
    expect(pods.live('other', { name: 'web-0', uid: 'u' })).to.equal(undefined);
  });
});

describe('isReadyFor', () => {
  it('counts to the millisecond, and takes none that is not ready', () => {
    expect([3_999, 4_000].map((nowMs) => isReadyFor(POD, 3_000, nowMs))).to.deep.equal([false, true]);
    expect(isReadyFor({ ...POD, readySinceMs: undefined }, 0, 4_000)).to.equal(false);
  });

  it('takes each that is ready where it need not have been so for long, though our clock is behind', () => {
    expect(isReadyFor(POD, 0, 999)).to.equal(true);
    expect(isReadyFor(POD, 1, 999)).to.equal(false);
  });
});

function setUp() {
  const looked: unknown[] = [];
  const followed: FollowedPods = {
    find: (key) => (key === 'default/web-0' ? POD : undefined),
    findBy: (...by) => {
      looked.push(by);
      return [POD];
    },
    synced: async () => {
      looked.push('synced');
    },
  };
  return { pods: new TargetPods(followed), looked };
}
