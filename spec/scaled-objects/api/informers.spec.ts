import { expect } from 'chai';
import { parseApiVersion } from '#lib/kubernetes/client/api-resource.ts';
import type { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import { declareInformers, findOwners, type ManagedHpa } from '#lib/scaled-objects/api/informers.ts';
import type { ScaledObject } from '#lib/scaled-objects/api/scaled-object.ts';

import { eventually } from '#spec/support/eventually.ts';
import { startListingServer } from '#spec/support/listing-server.ts';
import { PATHS, startScaledObjectsCluster } from '#spec/support/scaled-objects-cluster.ts';

const SERVING_ALL: Pick<RestMapper, 'findExact'> = {
  findExact: async ({ apiVersion, kind }) => ({
    ...parseApiVersion(apiVersion),
    ...{ kind, plural: `${kind.toLowerCase()}s`, namespaced: true },
  }),
};

describe('declareInformers', () => {
  it('watches only objects of the configured namespaces', async () => {
    await using cluster = await startScaledObjectsCluster({ namespaces: ['default', 'kube-system'] });
    await cluster.create('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'other' },
    });
    cluster.source.set('/queue', 1);
    await cluster.deployment('web', 1);
    await cluster.scaledObject('web', { triggers: [cluster.trigger('/queue')] });
    const elsewhere = PATHS.scaledObjects.replace('/default/', '/other/');
    await cluster.create(elsewhere, {
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata: { name: 'web' } },
      spec: { scaleTargetRef: { name: 'web' }, triggers: [cluster.trigger('/queue')] },
    });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).startsWith('True'));
    await cluster.elapse(5);
    const { metadata, status } = await cluster.get(`${elsewhere}/web`);
    expect([metadata.finalizers, status]).to.deep.equal([undefined, undefined]);
  });

  it('omits the spec of objects that are nested too deep or have too many values, and logs which and why', async () => {
    const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
    const wide = `[${'[],'.repeat(20_000)}0]`;
    const event = (type: string, [name, version]: readonly [string, number], field: string) =>
      `{"type":"${type}","object":{"metadata":{"namespace":"shop","name":"${name}","resourceVersion":"${version}"},` +
      `"spec":{"jobTargetRef":{"field":${field}},"triggers":[]}}}\n`;
    const events = [
      event('ADDED', ['deep', 6], deep),
      event('DELETED', ['deep', 6], deep),
      event('ADDED', ['deep', 7], deep),
      event('ADDED', ['wide', 8], wide),
      event('ADDED', ['good', 9], '[[]]'),
    ];
    const empty = JSON.stringify({ metadata: { resourceVersion: '5' }, items: [] });
    await using served = await startListingServer(empty, events.join(''));
    await using informers = new SharedInformers({ ...served, mapper: SERVING_ALL });
    const watched = declareInformers({ ...served, informers, namespaces: [] });
    watched.start(new AbortController().signal).catch(() => {}); // the spec has ended
    await eventually(() => watched.scaledJobs.find('shop/good') !== undefined);
    const found = ['shop/deep', 'shop/wide', 'shop/good'].map((key) => watched.scaledJobs.find(key));
    expect(found.map((object) => [object?.metadata.name, object?.omitted])).to.deep.equal([
      ['deep', 'Cannot read object: more than 64 levels of nesting'],
      ['wide', 'Cannot read object: more than 20000 values'],
      ['good', undefined],
    ]);
    expect(found.map((object) => object?.spec.triggers)).to.deep.equal([[], [], []]);
    const lines = served.logger.lines.map(
      ({ message, fields }) => `${message} ${fields?.kind} ${fields?.object}`,
    );
    expect(lines.filter((line) => line.includes('ScaledJob'))).to.deep.equal(
      ['deep', 'deep', 'wide'].map((name) => `Cannot use object ScaledJob shop/${name}`),
    );
  });

  it('detects an authentication that was changed or created again', async () => {
    const reported = async (metadata: object) => {
      const items = [{ metadata: { namespace: 'shop', name: 'keys', ...metadata } }];
      await using served = await startListingServer(
        JSON.stringify({ metadata: { resourceVersion: '5' }, items }),
      );
      await using informers = new SharedInformers({ ...served, mapper: SERVING_ALL });
      const watched = declareInformers({ ...served, informers, namespaces: [] });
      await watched.start(new AbortController().signal);
      await eventually(() => watched.isSynced);
      return watched.authenticationsOf(USER)[0];
    };
    const before = await reported({ uid: 'a', generation: 1 });
    expect(await reported({ uid: 'a', generation: 1, labels: { team: 'a' } })).to.equal(before);
    expect(await reported({ uid: 'a', generation: 2 })).to.not.equal(before);
    expect(await reported({ uid: 'b', generation: 1 })).to.not.equal(before);
  });
});

const USER: ScaledObject = {
  metadata: { namespace: 'shop', name: 'web' },
  spec: {
    scaleTargetRef: { name: 'web' },
    triggers: [{ type: 'redis', metadata: {}, authenticationRef: { name: 'keys' } }],
  },
};

describe('findOwners', () => {
  const owner = { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', name: 'web', uid: 'u' };
  const hpa = (resourceVersion: string, scalingActive: string, more: object = {}): ManagedHpa => ({
    metadata: {
      ...{ name: 'keda-hpa-web', namespace: 'n', uid: 'h', resourceVersion },
      ownerReferences: [{ ...owner, controller: true }],
    },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, ...more },
    status: {
      conditions: [
        { type: 'AbleToScale', status: resourceVersion },
        { type: 'ScalingActive', status: scalingActive },
      ],
    },
  });
  const owners = (previous: ManagedHpa | undefined, current: ManagedHpa | undefined) => [
    ...findOwners({ key: 'n/keda-hpa-web', previous, current }),
  ];

  it('returns the object whose HPA is added, deleted or changed, or ceases to scale', () => {
    expect(owners(undefined, hpa('1', 'True'))).to.deep.equal(['n/web']);
    expect(owners(hpa('1', 'True'), undefined)).to.deep.equal(['n/web']);
    expect(owners(hpa('1', 'True'), hpa('2', 'False'))).to.deep.equal(['n/web']);
    expect(owners(hpa('1', 'True'), hpa('2', 'True', { maxReplicas: 3 }))).to.deep.equal(['n/web']);
  });

  it('returns no key if only the metrics of an HPA change, or if it has no owner', () => {
    expect(owners(hpa('1', 'True'), hpa('2', 'True'))).to.deep.equal([]);
    expect(owners(undefined, { metadata: { name: 'own', namespace: 'n' } })).to.deep.equal([]);
  });
});
