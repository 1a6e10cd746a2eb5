import { planNamespaces } from '../fleet/population.ts';
import type { ObjectStore } from '../objects/object-store.ts';
import type { ClusterPki } from '../pki/cluster-pki.ts';
import type { Scenario } from '../scenario.ts';
import { authenticationConfigMap } from './authentication-config-map.ts';

/** Creates what an API server has before the first node joins. */
export function createInitialObjects(
  store: ObjectStore,
  { scenario, pki }: { readonly scenario: Scenario; readonly pki: ClusterPki },
): void {
  for (const name of planNamespaces(scenario)) {
    store.create('namespaces', {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
  }
  store.create('configmaps', authenticationConfigMap(pki));
}
