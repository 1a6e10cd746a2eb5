import { expect } from 'chai';
import { Informers } from '#lib/kubernetes/informer/shared-informers.ts';
import { objectMetadata } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { type ListingServer, startListingServer } from '#spec/support/listing-server.ts';

const LIST = JSON.stringify({ metadata: { resourceVersion: '5' }, items: [{ metadata: { name: 'a' } }] });
const nameOf = (object: unknown) => objectMetadata(object)?.key;

describe('Informers', () => {
  let served: ListingServer;
  let informers: Informers;

  beforeEach(async () => {
    served = await startListingServer(LIST);
    informers = new Informers(served);
  });

  afterEach(async () => {
    await informers[Symbol.asyncDispose]();
    await served[Symbol.asyncDispose]();
    expect(served.clock.sleeperCount).to.equal(0);
  });

  it('follow each collection once, however many ask for it', async () => {
    const pods = informers.of({ collection: { path: '/api/v1/pods' }, transform: nameOf });
    expect(informers.of({ collection: { path: '/api/v1/pods' }, transform: nameOf })).to.equal(pods);
    const others = [
      { path: '/api/v1/nodes' },
      { path: '/api/v1/pods', labelSelector: 'a=b' },
      { path: '/api/v1/pods', fieldSelector: 'a=b' },
      { path: '/api/v1/pods', metadataOnly: true },
    ].map((collection) => informers.of({ collection, transform: nameOf }));
    expect(new Set([pods, ...others]).size).to.equal(5);
    await informers.synced();
    expect([pods, ...others].every(({ isSynced }) => isSynced)).to.equal(true);
    expect(served.requests.filter(({ url }) => !url.searchParams.has('watch'))).to.have.length(5);
  });

  it('keep no two things of one collection', async () => {
    informers.of({ collection: { path: '/api/v1/pods' }, transform: nameOf });
    const other = () => informers.of({ collection: { path: '/api/v1/pods' }, transform: () => 1 });
    expect(other).to.throw('Cannot follow /api/v1/pods: it is followed already, with another transform');
    await informers.synced();
  });

  it('let one who waits give up', async () => {
    const { signal } = new AbortController();
    informers.of({ collection: { path: '/api/v1/pods' }, transform: nameOf });
    await informers.synced(signal);
    const aborted = AbortSignal.abort(new Error('enough'));
    informers.of({ collection: { path: '/api/v1/nodes' }, transform: nameOf });
    expect(await informers.synced(aborted).catch(String)).to.equal('Error: enough');
  });
});
