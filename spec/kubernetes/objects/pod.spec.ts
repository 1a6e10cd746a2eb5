import { expect } from 'chai';
import { POD_INDEXES, PODS, scaledPod, selectPods } from '#lib/kubernetes/objects/pod.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';

const SINCE_MS = Date.UTC(2026, 0, 1);
const POD = {
  metadata: { namespace: 'default', name: 'web-0', uid: 'u', labels: { app: 'web' } },
  spec: { containers: [{ name: 'app', resources: { requests: { cpu: '1' } } }] },
  status: {
    ...{ phase: 'Running', podIP: '10.0.0.7', startTime: '2026-01-01T00:00:00Z' },
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
  },
};
const COMMON = {
  ...{ namespace: 'default', name: 'web-0', labels: { app: 'web' }, phase: 'Running', isDeleting: false },
  ready: { status: 'True', changedAtMs: SINCE_MS },
  ...{ initContainers: [], podRequests: {}, overhead: {} },
};

describe('PODS', () => {
  it('are decoded with what their users need', () => {
    const requests = { containers: [{ name: 'app', requests: { cpu: '1' } }], startedAtMs: SINCE_MS };
    const address = { uid: 'u', ip: '10.0.0.7' };
    const neither = { containers: [], startedAtMs: undefined, uid: '', ip: undefined };
    const decoded = (...needs: readonly ('requests' | 'address')[][]) =>
      PODS.decoder(needs.map((fields) => ({ fields })))(POD);
    expect(decoded()).to.deep.equal({ ...COMMON, ...neither });
    expect(decoded(['requests'])).to.deep.equal({ ...COMMON, ...neither, ...requests });
    expect(decoded(['address'])).to.deep.equal({ ...COMMON, ...neither, ...address });
    expect(decoded(['requests'], ['address'])).to.deep.equal({ ...COMMON, ...requests, ...address });
  });

  it('take nothing for a pod that has no name', () => {
    expect(() => PODS.decoder([])({ metadata: {} })).to.throw('Cannot read an object: it has no name');
  });
});

describe('POD_INDEXES', () => {
  it('find a pod by its namespace, and by that with each of its labels', () => {
    const found = { namespace: 'default', labels: { app: 'web', tier: 'front' } };
    expect(POD_INDEXES.namespace(found)).to.deep.equal(['default']);
    expect(POD_INDEXES.labels(found)).to.deep.equal(['default\napp=web', 'default\ntier=front']);
  });
});

describe('selectPods', () => {
  const POD_A = { labels: { app: 'web', tier: 'front' } };

  for (const [selector, index, word] of [
    ['app=web', 'labels', 'default\napp=web'],
    ['app==web,tier', 'labels', 'default\napp=web'],
    ['tier!=back,app in (web)', 'labels', 'default\napp=web'],
    ['app in (api,web)', 'namespace', 'default'],
    ['app', 'namespace', 'default'],
    ['tier notin (back)', 'namespace', 'default'],
    ['tier!=back', 'namespace', 'default'],
  ] as const)
    it(`looks for ${selector} by ${index}, and at no more pods than have that`, () => {
      const looked: unknown[] = [];
      const findBy = (...by: readonly string[]) => {
        looked.push(by);
        return [POD_A];
      };
      expect(selectPods({ findBy }, 'default', parseLabelSelector(selector))).to.deep.equal([POD_A]);
      expect(looked).to.deep.equal([[index, word]]);
    });

  it('selects by all requirements', () => {
    const pods = { findBy: () => [POD_A] };
    expect(selectPods(pods, 'default', parseLabelSelector('app=web,tier=back'))).to.deep.equal([]);
  });
});

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
