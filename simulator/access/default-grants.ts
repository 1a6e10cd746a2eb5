import type { Grant } from './rbac.ts';

/** The user as which metrics-server calls the API server and kubelets. */
export const METRICS_SERVER_USER = 'system:serviceaccount:kube-system:metrics-server';

/** The user that requests pod metrics for autoscalers. */
export const AUTOSCALER_USER = 'system:serviceaccount:kube-system:horizontal-pod-autoscaler';

/**
 * The grants of every cluster, and those of metrics-server's manifests.
 *
 * @param kubeletAccess the kubelet endpoints that metrics-server may read; its manifests grant `nodes/metrics` alone
 */
export function defaultGrants(kubeletAccess: readonly string[]): readonly Grant[] {
  return [
    {
      name: 'system:discovery',
      role: 'system:discovery',
      groups: ['system:authenticated'],
      rules: [
        {
          verbs: ['get'],
          nonResourceURLs: [
            '/api',
            '/api/*',
            '/apis',
            '/apis/*',
            '/openapi',
            '/openapi/*',
            '/version',
            '/version/',
          ],
        },
      ],
    },
    {
      name: 'system:public-info-viewer',
      role: 'system:public-info-viewer',
      groups: ['system:authenticated', 'system:unauthenticated'],
      rules: [
        { verbs: ['get'], nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version', '/version/'] },
      ],
    },
    {
      name: 'system:basic-user',
      role: 'system:basic-user',
      groups: ['system:authenticated'],
      rules: [
        {
          verbs: ['create'],
          apiGroups: ['authorization.k8s.io'],
          resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
        },
        { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
      ],
    },
    {
      name: 'system:metrics-server',
      role: 'system:metrics-server',
      users: [METRICS_SERVER_USER],
      rules: [
        { verbs: ['get'], apiGroups: [''], resources: kubeletAccess },
        { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods', 'nodes'] },
      ],
    },
    {
      name: 'metrics-server:system:auth-delegator',
      role: 'system:auth-delegator',
      users: [METRICS_SERVER_USER],
      rules: [
        { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'] },
        { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'] },
      ],
    },
    {
      name: 'metrics-server-auth-reader',
      role: 'extension-apiserver-authentication-reader',
      namespace: 'kube-system',
      users: [METRICS_SERVER_USER],
      rules: [
        {
          verbs: ['get', 'list', 'watch'],
          apiGroups: [''],
          resources: ['configmaps'],
          resourceNames: ['extension-apiserver-authentication'],
        },
      ],
    },
    {
      name: 'system:controller:horizontal-pod-autoscaler',
      role: 'system:controller:horizontal-pod-autoscaler',
      users: [AUTOSCALER_USER],
      rules: [{ verbs: ['list'], apiGroups: ['metrics.k8s.io'], resources: ['pods'] }],
    },
  ];
}
