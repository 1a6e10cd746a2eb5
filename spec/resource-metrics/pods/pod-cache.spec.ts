import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { PodCache } from '#lib/resource-metrics/pods/pod-cache.ts';
import { startListingServer } from '#spec/support/listing-server.ts';

describe('PodCache', () => {
  it('follows the metadata of running pods', async () => {
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
