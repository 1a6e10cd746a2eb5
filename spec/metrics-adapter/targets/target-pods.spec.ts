import { expect } from 'chai';
import { isReadyFor, TargetPods } from '#lib/metrics-adapter/targets/target-pods.ts';
import { readTargetPod } from '#spec/support/target-pod.ts';

const { signal } = new AbortController();
const POD = {
  ...{ namespace: 'default', name: 'web-0', uid: 'u', ip: '10.0.0.7', readySinceMs: 1_000 },
  labels: { app: 'web', tier: 'front' },
};

describe('TargetPods', () => {
  it('caches pods from when they are first selected, and selects by all requirements', async () => {
    const { pods, calls } = setUp();
    expect(calls).to.deep.equal([]);
    expect(await pods.select('default', 'app=web', signal)).to.deep.equal([POD]);
    expect(calls).to.deep.equal(['start', 'synced', ['omitted', 'default'], ['labels', 'default\napp=web']]);
    expect(await pods.select('default', 'app=web,tier=back', signal)).to.deep.equal([]);
  });

  it('identifies a live pod by its name and UID', () => {
    const { pods } = setUp();
    expect(pods.live('default', { name: 'web-0', uid: 'u' })).to.equal(POD);
    expect(pods.live('default', { name: 'web-0', uid: 'before' })).to.equal(undefined);
    expect(pods.live('other', { name: 'web-0', uid: 'u' })).to.equal(undefined);
  });
});

describe('isReadyFor', () => {
  it('compares milliseconds, and excludes unready pods', () => {
    expect([3_999, 4_000].map((nowMs) => isReadyFor(POD, 3_000, nowMs))).to.deep.equal([false, true]);
    expect(isReadyFor({ ...POD, readySinceMs: undefined }, 0, 4_000)).to.equal(false);
  });

  it('includes each ready pod with a minimum of 0, even if our clock is behind', () => {
    expect(isReadyFor(POD, 0, 999)).to.equal(true);
    expect(isReadyFor(POD, 1, 999)).to.equal(false);
  });
});

function setUp() {
  const calls: unknown[] = [];
  const pods = new TargetPods({
    start: () => void calls.push('start'),
    synced: async () => void calls.push('synced'),
    find: (key) => (key === 'default/web-0' ? POD : undefined),
    findBy: (...by) => {
      calls.push(by);
      return by[0] === 'omitted' ? [] : [POD];
    },
  });
  return { pods, calls };
}

const SINCE = '2026-01-01T00:00:00Z';
const SINCE_MS = Date.UTC(2026, 0, 1);
const READY = { type: 'Ready', status: 'True', lastTransitionTime: SINCE };
const OTHER = { type: 'Initialized', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' };

describe('TARGET_PODS', () => {
  it('returns the fields for polling a pod and serving its values', () => {
    expect(readTargetPod(pod())).to.deep.equal({
      ...{ namespace: 'default', name: 'web-0', uid: 'u', labels: { app: 'web' }, ip: '10.0.0.7' },
      readySinceMs: SINCE_MS,
    });
    expect(readTargetPod({ metadata: { namespace: 'default', name: 'web-0' } })).to.deep.equal({
      ...{ namespace: 'default', name: 'web-0', uid: '', labels: {}, ip: undefined },
      readySinceMs: undefined,
    });
    expect(readTargetPod(pod({ podIP: '' }))?.ip).to.equal(undefined);
  });

  for (const [what, changes, readySinceMs] of [
    ['by its own condition, wherever that stands', { conditions: [OTHER, READY] }, SINCE_MS],
    ['for ever, where nobody says since when', { conditions: [{ type: 'Ready', status: 'True' }] }, 0],
    ['not while its condition says so', { conditions: [{ ...READY, status: 'False' }] }, undefined],
    ['not by another condition', { conditions: [OTHER] }, undefined],
    ['not without conditions', { conditions: null }, undefined],
    ['not once it has ended', { phase: 'Succeeded' }, undefined],
    ['not once it is to go', { deletionTimestamp: SINCE }, undefined],
  ] as const)
    it(`treats a pod as ready ${what}`, () => {
      expect(readTargetPod(pod(changes))?.readySinceMs).to.equal(readySinceMs);
    });
});

function pod(changes: { readonly deletionTimestamp?: string } & Readonly<Record<string, unknown>> = {}) {
  const { deletionTimestamp, ...status } = changes;
  const metadata = { namespace: 'default', name: 'web-0', uid: 'u', labels: { app: 'web' } };
  return {
    metadata: deletionTimestamp === undefined ? metadata : { ...metadata, deletionTimestamp },
    status: { phase: 'Running', podIP: '10.0.0.7', conditions: [READY], ...status },
  };
}
