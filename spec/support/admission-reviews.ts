/** The review that an API server (1.20 or newer) sends of an object before it persists it. */
export function admissionReview(
  operation: string,
  object: { readonly kind?: string } | null,
  {
    oldObject = null,
    dryRun = false,
  }: { readonly oldObject?: object | null; readonly dryRun?: boolean } = {},
): object {
  const kind = { group: 'keda.sh', version: 'v1alpha1', kind: object?.kind ?? 'ScaledObject' };
  const plural = `${kind.kind.toLowerCase()}s`;
  const resource = { group: 'keda.sh', version: 'v1alpha1', resource: plural };
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: '6f2a1b1e-3d8d-4e8b-9a0e-0c7f5a3c2d11',
      ...{ kind, resource, requestKind: kind, requestResource: resource },
      ...{ name: 'web', namespace: 'default', operation },
      userInfo: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
      ...{ object, oldObject, dryRun },
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'kubectl-create' },
    },
  };
}
