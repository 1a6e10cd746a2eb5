/** Image in the reference's manifests. */
export const REFERENCE_IMAGE = 'registry.k8s.io/metrics-server/metrics-server:v0.8.0';

const place = { name: 'metrics-server', namespace: 'kube-system' };
const labels = { 'k8s-app': 'metrics-server' };
const subjects = [{ kind: 'ServiceAccount', ...place }];
const RBAC = { group: 'rbac.authorization.k8s.io', version: 'rbac.authorization.k8s.io/v1' };

const role = (name: string, rules: readonly object[], more: object = {}) => ({
  apiVersion: RBAC.version,
  kind: 'ClusterRole',
  metadata: { name, labels: { ...labels, ...more } },
  rules,
});

const binding = (kind: string, metadata: object, roleRef: object) => ({
  apiVersion: RBAC.version,
  kind,
  metadata: { ...metadata, labels },
  roleRef: { apiGroup: RBAC.group, ...roleRef },
  subjects,
});

const probe = (path: string, times: object) => ({
  failureThreshold: 3,
  httpGet: { path, port: 'https', scheme: 'HTTPS' },
  periodSeconds: 10,
  ...times,
});

/** Objects of metrics-server v0.8's components.yaml. */
export const REFERENCE_MANIFESTS = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { ...place, labels } },
    role(
      'system:aggregated-metrics-reader',
      [{ apiGroups: ['metrics.k8s.io'], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] }],
      Object.fromEntries(
        ['admin', 'edit', 'view'].map((name) => [`rbac.authorization.k8s.io/aggregate-to-${name}`, 'true']),
      ),
    ),
    role('system:metrics-server', [
      { apiGroups: [''], resources: ['nodes/metrics'], verbs: ['get'] },
      { apiGroups: [''], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] },
    ]),
    binding(
      'RoleBinding',
      { name: 'metrics-server-auth-reader', namespace: 'kube-system' },
      { kind: 'Role', name: 'extension-apiserver-authentication-reader' },
    ),
    binding(
      'ClusterRoleBinding',
      { name: 'metrics-server:system:auth-delegator' },
      { kind: 'ClusterRole', name: 'system:auth-delegator' },
    ),
    binding(
      'ClusterRoleBinding',
      { name: 'system:metrics-server' },
      { kind: 'ClusterRole', name: 'system:metrics-server' },
    ),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { ...place, labels },
      spec: {
        ports: [{ appProtocol: 'https', name: 'https', port: 443, protocol: 'TCP', targetPort: 'https' }],
        selector: labels,
      },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { ...place, labels },
      spec: {
        selector: { matchLabels: labels },
        strategy: { rollingUpdate: { maxUnavailable: 0 } },
        template: {
          metadata: { labels },
          spec: {
            containers: [
              {
                args: [
                  '--cert-dir=/tmp',
                  '--secure-port=10250',
                  '--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname',
                  '--kubelet-use-node-status-port',
                  '--metric-resolution=15s',
                ],
                image: REFERENCE_IMAGE,
                imagePullPolicy: 'IfNotPresent',
                livenessProbe: probe('/livez', {}),
                name: 'metrics-server',
                ports: [{ containerPort: 10250, name: 'https', protocol: 'TCP' }],
                readinessProbe: probe('/readyz', { initialDelaySeconds: 20 }),
                resources: { requests: { cpu: '100m', memory: '200Mi' } },
                securityContext: {
                  allowPrivilegeEscalation: false,
                  capabilities: { drop: ['ALL'] },
                  readOnlyRootFilesystem: true,
                  runAsNonRoot: true,
                  runAsUser: 1000,
                  seccompProfile: { type: 'RuntimeDefault' },
                },
                volumeMounts: [{ mountPath: '/tmp', name: 'tmp-dir' }],
              },
            ],
            nodeSelector: { 'kubernetes.io/os': 'linux' },
            priorityClassName: 'system-cluster-critical',
            serviceAccountName: 'metrics-server',
            volumes: [{ emptyDir: {}, name: 'tmp-dir' }],
          },
        },
      },
    },
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1beta1.metrics.k8s.io', labels },
      spec: {
        group: 'metrics.k8s.io',
        groupPriorityMinimum: 100,
        insecureSkipTLSVerify: true,
        service: place,
        version: 'v1beta1',
        versionPriority: 100,
      },
    },
  ],
};
