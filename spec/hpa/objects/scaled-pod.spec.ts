import { expect } from 'chai';
import { scaledPod } from '#lib/hpa/objects/scaled-pod.ts';

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
