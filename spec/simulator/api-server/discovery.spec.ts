import { expect } from 'chai';
import {
  apiGroupList,
  apiResourceList,
  groupDiscovery,
  wantsAggregatedDiscovery,
} from '#simulator/api-server/discovery.ts';
import { builtInTypes } from '#simulator/resources/kinds/built-in-types.ts';
import { ResourceRegistry } from '#simulator/resources/resource-type.ts';
import { startCluster } from '#simulator/simulated-cluster.ts';
import { ClusterClient } from '#spec/support/cluster-client.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const AGGREGATED_DISCOVERY = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

const registry = new ResourceRegistry(builtInTypes());

describe('wantsAggregatedDiscovery', () => {
  it('selects the first supported form', () => {
    const beta = AGGREGATED_DISCOVERY.replace('v2', 'v2beta1');
    expect(wantsAggregatedDiscovery(`${AGGREGATED_DISCOVERY},application/json`)).to.equal(true);
    expect(wantsAggregatedDiscovery(`${beta},application/json`)).to.equal(false);
    expect(wantsAggregatedDiscovery(`${beta},${AGGREGATED_DISCOVERY}`)).to.equal(true);
    expect(wantsAggregatedDiscovery(undefined)).to.equal(false);
  });
});

describe('groupDiscovery', () => {
  const metrics = { group: 'metrics.k8s.io', version: 'v1beta1' };

  it('contains the resources of an aggregated server', () => {
    const resources = [
      { name: 'nodes', singularName: '', namespaced: false, kind: 'NodeMetrics', verbs: ['get'] },
    ];
    // As recorded from a kube-apiserver.
    expect(groupDiscovery(registry, [{ ...metrics, resources }]).items.at(-1)).to.deep.equal({
      metadata: { name: 'metrics.k8s.io' },
      versions: [
        {
          version: 'v1beta1',
          resources: [
            {
              resource: 'nodes',
              responseKind: { group: '', version: '', kind: 'NodeMetrics' },
              scope: 'Cluster',
              singularResource: '',
              verbs: ['get'],
            },
          ],
          freshness: 'Current',
        },
      ],
    });
  });

  it('has one entry for a group, the preferred of its versions first', () => {
    const custom = (version: string) => ({ group: 'custom.metrics.k8s.io', version, resources: [] });
    const { items } = groupDiscovery(registry, [custom('v1beta1'), custom('v1beta2')]);
    expect(items.filter((item) => JSON.stringify(item).includes('custom.metrics'))).to.deep.equal([
      {
        metadata: { name: 'custom.metrics.k8s.io' },
        versions: [
          { version: 'v1beta2', resources: [], freshness: 'Current' },
          { version: 'v1beta1', resources: [], freshness: 'Current' },
        ],
      },
    ]);
    const { groups } = apiGroupList(registry, [custom('v1beta1'), custom('v1beta2')]);
    expect(groups.filter(({ name }) => name === 'custom.metrics.k8s.io')).to.have.length(1);
    expect(groups.at(-1)?.preferredVersion).to.deep.include({ version: 'v1beta2' });
  });

  it('marks the version of an unreachable server as stale', () => {
    const { items } = groupDiscovery(registry, [{ ...metrics, resources: undefined }]);
    expect(items.at(-1)).to.deep.include({ versions: [{ version: 'v1beta1', freshness: 'Stale' }] });
  });
});

describe('apiGroupList', () => {
  it('lists own groups once each, and aggregated ones', () => {
    const { groups } = apiGroupList(registry, [{ group: 'metrics.k8s.io', version: 'v1beta1' }]);
    expect(groups.map(({ name }) => name)).to.deep.equal([
      'apiregistration.k8s.io',
      'events.k8s.io',
      'authentication.k8s.io',
      'authorization.k8s.io',
      'apps',
      'autoscaling',
      'batch',
      'networking.k8s.io',
      'policy',
      'coordination.k8s.io',
      'apiextensions.k8s.io',
      'rbac.authorization.k8s.io',
      'metrics.k8s.io',
    ]);
  });
});

describe('apiResourceList', () => {
  it('returns undefined for an unknown version', () => {
    expect(apiResourceList(registry, 'extensions', 'v1beta1')).to.equal(undefined);
    expect(apiResourceList(registry, '', 'v1')?.resources.map(({ name }) => name)).to.include('pods');
  });
});

describe('discovery over HTTP', () => {
  it('responds with 304 to a client with the current ETag', async () => {
    await using cluster = await startCluster({ nodes: 0 }, { clock: new ManualClock() });
    const client = new ClusterClient(cluster);
    for (const path of ['/api', '/apis']) {
      const first = await client.request(path, { headers: { Accept: AGGREGATED_DISCOVERY } });
      expect(first.headers['content-type']).to.equal(AGGREGATED_DISCOVERY);
      const headers = { Accept: AGGREGATED_DISCOVERY, 'If-None-Match': first.headers.etag ?? '' };
      expect(await client.request(path, { headers })).to.include({ status: 304, body: '' });
    }
    expect((await client.json('/api')).versions).to.deep.equal(['v1']);
    expect((await client.json('/apis/authorization.k8s.io')).kind).to.equal('APIGroup');
    expect((await client.json('/apis/authorization.k8s.io/v1')).kind).to.equal('APIResourceList');
  });
});
