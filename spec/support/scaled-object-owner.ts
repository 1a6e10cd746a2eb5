import type { PlainClient } from './plain-client.ts';

/**
 * Creates a ScaledObject and its definition.
 *
 * @returns the owner reference to it that its HPA has
 */
export async function createScaledObject(api: PlainClient, name: string) {
  const names = {
    kind: 'ScaledObject',
    listKind: 'ScaledObjectList',
    plural: 'scaledobjects',
    singular: 'scaledobject',
  };
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await api.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'scaledobjects.keda.sh' },
    spec: {
      group: 'keda.sh',
      scope: 'Namespaced',
      names,
      versions: [{ name: 'v1alpha1', served: true, storage: true, schema }],
    },
  });
  const identity = { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject' };
  const path = '/apis/keda.sh/v1alpha1/namespaces/default/scaledobjects';
  const { body } = await api.post(path, { ...identity, metadata: { name } });
  return { ...identity, name, uid: body.metadata.uid, controller: true };
}
