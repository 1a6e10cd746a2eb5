import { type Permission, permissionsCheck } from '#lib/doctor/permissions.ts';
import { failed } from '#lib/resource-metrics/doctor/diagnoses.ts';
import type { DoctorContext } from '#lib/resource-metrics/doctor/doctor-context.ts';

/** Checks each permission that the server needs. */
export const permissions = permissionsCheck({ program: 'metrics-server', permissionsOf, failed });

function permissionsOf({ options }: DoctorContext): readonly Permission[] {
  const kubelet = (resource: string): Permission => ({ verb: 'get', group: '', resource });
  const ofCluster = (resource: string, ...verbs: string[]): Permission[] =>
    verbs.map((verb) => ({ verb, group: '', resource }));
  const configMap = {
    group: '',
    resource: 'configmaps',
    namespace: 'kube-system',
    name: 'extension-apiserver-authentication',
  };
  const { metricsEndpoint } = options.kubelet;
  const stats = kubelet('nodes/stats');
  const instead = { resource: 'nodes/metrics', seen: 'kubelets are scraped at /metrics/resource instead' };
  return [
    ...(metricsEndpoint === 'resource' ? [] : [metricsEndpoint === 'auto' ? { ...stats, instead } : stats]),
    ...(metricsEndpoint === 'summary' ? [] : [kubelet('nodes/metrics')]),
    ...ofCluster('nodes', 'list', 'watch'),
    ...ofCluster('pods', 'list', 'watch'),
    { verb: 'create', group: 'authentication.k8s.io', resource: 'tokenreviews' },
    { verb: 'create', group: 'authorization.k8s.io', resource: 'subjectaccessreviews' },
    ...['get', 'list', 'watch'].map((verb) => ({ verb, ...configMap })),
  ];
}
