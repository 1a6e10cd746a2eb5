import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { PodCache, PodReducer } from '#lib/resource-metrics/nodes/pod-cache.ts';
import { startListingServer } from '#spec/support/listing-server.ts';

describe('PodCache', () => {
  it('watches the metadata of running pods', async () => {
    const list = readFileSync(new URL('../../fixtures/apiserver/pods-page2.body', import.meta.url), 'utf8');
    await using server = await startListingServer(list);
    await using pods = new PodCache(server);
    pods.start();
    await pods.synced();
    expect(pods.isSynced).to.equal(true);
    expect([...pods.values()]).to.deep.equal([
      {
        namespace: 'kube-system',
        name: 'quiet',
        uid: '508a1144-c53c-47b2-a8f2-0c926ec665cd',
        labels: { 'k8s-app': 'quiet' },
      },
    ]);
    expect(pods.get('kube-system', 'quiet')).to.equal([...pods.values()][0]);
    expect(pods.get('default', 'quiet')).to.equal(undefined);
    const [request] = server.requests;
    expect(request?.url.pathname).to.equal('/api/v1/pods');
    expect(request?.url.searchParams.get('fieldSelector')).to.equal('status.phase=Running');
    expect(request?.headers.accept).to.contain('as=PartialObjectMetadataList');
  });
});

describe('PodReducer', () => {
  const pod = (name: string, labels?: unknown) => ({
    metadata: { namespace: 'ns', name, uid: `uid-${name}`, labels },
  });

  it('caches namespace, name, UID and labels', () => {
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

  it('caches the UID that the kubelet reports for a static pod', () => {
    const hash = 'e6f5d2bd4a0f1c8b6a1f4c2d9b7e3a05';
    const annotations = { 'kubernetes.io/config.mirror': hash, 'kubernetes.io/config.hash': hash };
    const mirror = { metadata: { ...pod('etcd-a').metadata, annotations } };
    expect(new PodReducer().reduce(mirror).uid).to.equal(hash);
  });

  it('caches no labels beyond their bound, and says so', () => {
    const labelsOf = (bytes: number) => ({ a: 'v'.repeat(bytes - 33) });
    const { labels, omitted } = new PodReducer().reduce(pod('a', labelsOf(16_384)));
    expect([labels.a?.length, omitted]).to.deep.equal([16_351, undefined]);
    expect(new PodReducer().reduce(pod('a', labelsOf(16_385)))).to.deep.equal({
      ...{ namespace: 'ns', name: 'a', uid: 'uid-a', labels: {} },
      omitted: 'labels of more than 16 KiB',
    });
  });

  it('ignores a UID in an annotation that is too long to be one', () => {
    const annotations = { 'kubernetes.io/config.mirror': 'x'.repeat(65) };
    const { uid } = new PodReducer().reduce({ metadata: { ...pod('a').metadata, annotations } });
    expect(uid).to.equal('uid-a');
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

  it('shares empty labels', () => {
    const reducer = new PodReducer();
    expect(reducer.reduce(pod('a')).labels).to.deep.equal({});
    expect(reducer.reduce(pod('a')).labels).to.equal(reducer.reduce(pod('b', {}))?.labels);
  });

  it('ignores malformed parts, and treats a label named __proto__ as data', () => {
    const reducer = new PodReducer();
    for (const object of [undefined, {}, { metadata: { name: 'a', namespace: 'ns' } }]) {
      expect(() => reducer.reduce(object)).to.throw('Cannot read a pod: it has no namespace, name or UID');
    }
    expect(reducer.reduce(pod('a', { good: 'x', bad: 7 }))?.labels).to.deep.equal({ good: 'x' });
    const odd = reducer.reduce(pod('a', JSON.parse('{"__proto__":"x"}')));
    expect(Object.entries(odd?.labels ?? {})).to.deep.equal([['__proto__', 'x']]);
  });
});
