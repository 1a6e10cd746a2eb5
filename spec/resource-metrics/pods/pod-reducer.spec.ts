import { expect } from 'chai';
import { PodReducer } from '#lib/resource-metrics/pods/pod-reducer.ts';

describe('PodReducer', () => {
  const pod = (name: string, labels?: unknown) => ({
    metadata: { namespace: 'ns', name, uid: `uid-${name}`, labels },
  });

  it('keeps namespace, name, UID and labels', () => {
    const full = {
      metadata: { ...pod('a', { app: 'x' }).metadata, annotations: { big: 'x' }, ownerReferences: [] },
    };
    expect(new PodReducer().reduce(full)).to.deep.equal({
      namespace: 'ns',
      name: 'a',
      uid: 'uid-a',
      labels: { app: 'x' },
    });
  });

  it('knows a static pod by the UID that its kubelet runs it under', () => {
    const hash = 'e6f5d2bd4a0f1c8b6a1f4c2d9b7e3a05';
    const annotations = { 'kubernetes.io/config.mirror': hash, 'kubernetes.io/config.hash': hash };
    const mirror = { metadata: { ...pod('etcd-a').metadata, annotations } };
    expect(new PodReducer().reduce(mirror)?.uid).to.equal(hash);
  });

  it('shares equal labels', () => {
    const reducer = new PodReducer();
    const [a, b, c] = [
      reducer.reduce(pod('a', { app: 'x', tier: 'y' })),
      reducer.reduce(pod('b', { app: 'x', tier: 'y' })),
      reducer.reduce(pod('c', { app: 'x', tier: 'z' })),
    ];
    expect(a?.labels).to.equal(b?.labels);
    expect(a?.labels).not.to.equal(c?.labels);
  });

  it('gives all pods without labels the same empty ones', () => {
    const reducer = new PodReducer();
    expect(reducer.reduce(pod('a'))?.labels).to.deep.equal({});
    expect(reducer.reduce(pod('a'))?.labels).to.equal(reducer.reduce(pod('b', {}))?.labels);
  });

  it('passes over what is malformed, and takes a label named __proto__ as data', () => {
    const reducer = new PodReducer();
    for (const object of [undefined, {}, { metadata: { name: 'a', namespace: 'ns' } }]) {
      expect(reducer.reduce(object)).to.equal(undefined);
    }
    expect(reducer.reduce(pod('a', { good: 'x', bad: 7 }))?.labels).to.deep.equal({ good: 'x' });
    const odd = reducer.reduce(pod('a', JSON.parse('{"__proto__":"x"}')));
    expect(Object.entries(odd?.labels ?? {})).to.deep.equal([['__proto__', 'x']]);
  });
});
