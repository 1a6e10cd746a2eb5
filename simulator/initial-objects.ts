import { type ClusterPki, FRONT_PROXY_NAME } from './access/certificate-authority.ts';
import { planNamespaces } from './nodes/population.ts';
import type { NewObject } from './objects/kubernetes-object.ts';
import type { ObjectStore } from './objects/object-store.ts';
import type { Scenario } from './scenario.ts';

/** Creates the objects that exist before the first node joins. */
export function createInitialObjects(
  store: ObjectStore,
  { scenario, pki }: { readonly scenario: Scenario; readonly pki: ClusterPki },
): void {
  for (const name of planNamespaces(scenario)) {
    store.create('namespaces', {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
      status: { phase: 'Active' },
    });
  }
  store.create('configmaps', authenticationConfigMap(pki));
}

/** The ConfigMap in kube-system with the client CAs that aggregated servers trust. */
const AUTHENTICATION_CONFIG_MAP = 'extension-apiserver-authentication';

/** The ConfigMap as the API server writes it at its start. */
function authenticationConfigMap(pki: ClusterPki): NewObject {
  return {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: AUTHENTICATION_CONFIG_MAP, namespace: 'kube-system' },
    data: {
      'client-ca-file': pki.clientCa.certificatePem,
      'requestheader-allowed-names': JSON.stringify([FRONT_PROXY_NAME]),
      'requestheader-client-ca-file': pki.frontProxyCa.certificatePem,
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-username-headers': '["X-Remote-User"]',
    },
  };
}
