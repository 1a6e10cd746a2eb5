import { expect } from 'chai';
import { readTargetPod, TARGET_POD_INDEXES } from '#lib/metrics-adapter/objects/target-pod.ts';

const SINCE = '2026-01-01T00:00:00Z';
const SINCE_MS = Date.UTC(2026, 0, 1);
const READY = { type: 'Ready', status: 'True', lastTransitionTime: SINCE };
const OTHER = { type: 'Initialized', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' };

describe('readTargetPod', () => {
  it('keeps what it takes to ask a pod, and to serve what it says', () => {
    expect(readTargetPod(pod())).to.deep.equal({
      ...{ namespace: 'default', name: 'web-0', uid: 'u', labels: { app: 'web' }, ip: '10.0.0.7' },
      readySinceMs: SINCE_MS,
    });
    expect(readTargetPod({ metadata: { namespace: 'default', name: 'web-0' } })).to.deep.equal({
      ...{ namespace: 'default', name: 'web-0', uid: '', labels: {}, ip: undefined },
      readySinceMs: undefined,
    });
    expect(readTargetPod(pod({ podIP: '' }))?.ip).to.equal(undefined);
    expect(readTargetPod({ metadata: { name: 'web-0' } })).to.equal(undefined);
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
    it(`takes a pod for ready ${what}`, () => {
      expect(readTargetPod(pod(changes))?.readySinceMs).to.equal(readySinceMs);
    });
});

describe('TARGET_POD_INDEXES', () => {
  it('find a pod by its namespace, and by that with each of its labels', () => {
    const read = readTargetPod(pod());
    if (!read) throw new Error('it is a pod');
    const found = { ...read, labels: { app: 'web', tier: 'front' } };
    expect(TARGET_POD_INDEXES.namespace(found)).to.deep.equal(['default']);
    expect(TARGET_POD_INDEXES.labels(found)).to.deep.equal(['default\napp=web', 'default\ntier=front']);
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
