const NAMESPACE = 'kube-system';
const RBAC = 'rbac.authorization.k8s.io';

/** Service account of kube-metrics-adapter. */
export const ADAPTER_ACCOUNT = 'custom-metrics-apiserver';

/** Arguments in kube-metrics-adapter's documented Deployment. */
export const ADAPTER_ARGUMENTS = [
  '--prometheus-server=http://prometheus.kube-system.svc.cluster.local',
  '--skipper-ingress-metrics',
  '--aws-external-metrics',
  '--scaling-schedule',
];

/**
 * Objects of kube-metrics-adapter's documented installation, without the Deployment.
 *
 * @param port its port on this machine
 */
export function adapterObjects(port: number): readonly object[] {
  const account = { kind: 'ServiceAccount', name: ADAPTER_ACCOUNT, namespace: NAMESPACE };
  const controller = { kind: 'ServiceAccount', name: 'horizontal-pod-autoscaler', namespace: NAMESPACE };
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: ADAPTER_ACCOUNT, namespace: NAMESPACE } },
    ...role('custom-metrics-resource-collector', account, [
      rule('', ['events'], ['create', 'patch']),
      rule('', ['pods'], ['list']),
      rule('apps', ['deployments', 'statefulsets'], ['get']),
      rule('networking.k8s.io', ['ingresses'], ['get']),
      rule('zalando.org', ['routegroups'], ['get']),
      rule('autoscaling', ['horizontalpodautoscalers'], ['get', 'list', 'watch']),
      rule('zalando.org', ['scalingschedules', 'clusterscalingschedules'], ['get', 'list', 'watch']),
      rule('zalando.org', ['scalingschedules/status', 'clusterscalingschedules/status'], ['update']),
    ]),
    ...role('custom-metrics-resource-reader', account, [
      rule('', ['namespaces', 'pods', 'services'], ['get', 'list']),
    ]),
    ...['custom', 'external'].flatMap((name) => [
      ...role(`${name}-metrics-server-resources`, controller, [rule(`${name}.metrics.k8s.io`, ['*'], ['*'])]),
      {
        ...{ apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService' },
        metadata: { name: `v1beta1.${name}.metrics.k8s.io` },
        spec: {
          ...{ group: `${name}.metrics.k8s.io`, version: 'v1beta1', insecureSkipTLSVerify: true },
          ...{ groupPriorityMinimum: 100, versionPriority: 100 },
          service: { name: 'kube-metrics-adapter', namespace: NAMESPACE, port },
        },
      },
    ]),
    bound('ClusterRoleBinding', 'custom-metrics:system:auth-delegator', {
      ...{ kind: 'ClusterRole', role: 'system:auth-delegator', subject: account },
    }),
    bound('RoleBinding', 'custom-metrics-auth-reader', {
      ...{ kind: 'Role', role: 'extension-apiserver-authentication-reader', subject: account },
    }),
    // Pods have no addresses here.
    {
      ...{ apiVersion: 'v1', kind: 'Service' },
      metadata: { name: 'kube-metrics-adapter', namespace: NAMESPACE },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    },
  ];
}

function rule(apiGroup: string, resources: readonly string[], verbs: readonly string[]): object {
  return { apiGroups: [apiGroup], resources, verbs };
}

function role(name: string, subject: object, rules: readonly object[]): readonly object[] {
  return [
    { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name }, rules },
    bound('ClusterRoleBinding', name, { kind: 'ClusterRole', role: name, subject }),
  ];
}

function bound(
  bindingKind: 'ClusterRoleBinding' | 'RoleBinding',
  name: string,
  { kind, role: of, subject }: { readonly kind: string; readonly role: string; readonly subject: object },
): object {
  return {
    ...{ apiVersion: `${RBAC}/v1`, kind: bindingKind },
    metadata: { name, ...(bindingKind === 'RoleBinding' && { namespace: NAMESPACE }) },
    roleRef: { apiGroup: RBAC, kind, name: of },
    subjects: [subject],
  };
}
