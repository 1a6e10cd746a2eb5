import { expect } from 'chai';
import { readTargetPod, scaledPod, TARGET_POD_INDEXES } from '#lib/kubernetes/objects/pod.ts';

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

describe('scaledPod', () => {
  it('keeps what deciding needs', () => {
    const pod = scaledPod({
      metadata: { name: 'web-0', labels: { app: 'web' }, deletionTimestamp: '2026-01-01T00:00:00Z' },
      spec: {
        containers: [{ name: 'app', resources: { requests: { cpu: '1' } } }],
        initContainers: [{ name: 'proxy', restartPolicy: 'Always' }, { name: 'setup' }],
        resources: { requests: { cpu: '2' } },
        overhead: { cpu: '3' },
      },
      status: {
        phase: 'Running',
        startTime: '2026-01-01T00:00:10Z',
        conditions: [
          { type: 'Initialized', status: 'True' },
          { type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:00:20Z' },
        ],
      },
    });
    expect(pod).to.deep.equal({
      name: 'web-0',
      labels: { app: 'web' },
      phase: 'Running',
      isDeleting: true,
      startedAtMs: Date.UTC(2026, 0, 1, 0, 0, 10),
      ready: { status: 'False', changedAtMs: Date.UTC(2026, 0, 1, 0, 0, 20) },
      containers: [{ name: 'app', requests: { cpu: '1' } }],
      initContainers: [
        { name: 'proxy', requests: {}, isSidecar: true },
        { name: 'setup', requests: {}, isSidecar: false },
      ],
      podRequests: { cpu: '2' },
      overhead: { cpu: '3' },
    });
  });

  it('knows pods that no kubelet has taken up', () => {
    const pod = scaledPod({ metadata: { name: 'web-0' }, spec: { containers: [] } });
    expect(pod).to.deep.include({ phase: '', startedAtMs: undefined, ready: undefined, isDeleting: false });
  });

  it('takes a transition that was never set for one long past', () => {
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: null }];
    const { ready } = scaledPod({
      metadata: { name: 'a' },
      spec: { containers: [] },
      status: { conditions },
    });
    expect(ready?.changedAtMs).to.equal(Number.NEGATIVE_INFINITY);
  });
});
