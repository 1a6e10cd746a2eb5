import { expect } from 'chai';
import { groupDiscovery } from '#simulator/api-server/discovery.ts';
import { builtInTypes } from '#simulator/resources/kinds/built-in-types.ts';
import { ResourceRegistry } from '#simulator/resources/resource-type.ts';

const registry = new ResourceRegistry(builtInTypes());

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
  });

  it('marks the version of an unreachable server as stale', () => {
    const { items } = groupDiscovery(registry, [{ ...metrics, resources: undefined }]);
    expect(items.at(-1)).to.deep.include({ versions: [{ version: 'v1beta1', freshness: 'Stale' }] });
  });

  it('lists own groups once each, and aggregated ones', () => {
    const { items } = groupDiscovery(registry, [{ ...metrics, resources: [] }]);
    expect(items.map((item) => (item as { metadata: { name: string } }).metadata.name)).to.deep.equal([
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
