import type { GrantedPermission } from './granted-permissions.ts';

/** Permissions that a program needs, but that acceptance specs do not reliably use. */
interface Explanation {
  readonly account: string;
  readonly verbs: readonly string[];
  readonly resources: readonly string[];
  /** Object names to which it applies; all if absent. */
  readonly names?: readonly string[];
  readonly reason: string;
}

const METRICS_SERVER = 'kube-system:metrics-server';
const AUTOSCALER = 'kube-system:autoscaler';

/** Permissions that acceptance specs need not use, each with its reason. */
export const EXPLANATIONS: readonly Explanation[] = [
  {
    ...{ account: METRICS_SERVER, verbs: ['get'], resources: ['nodes/metrics', 'nodes/stats'] },
    reason:
      'kubelets authorize requests by them; metrics-server.acceptance.ts compares the requests of kubelets',
  },
  ...[METRICS_SERVER, AUTOSCALER].map((account) => ({
    ...{ account, verbs: ['get', 'list', 'watch'], resources: ['configmaps'] },
    names: ['extension-apiserver-authentication'],
    reason: "a role of Kubernetes' own, which grants all three for reading the one ConfigMap",
  })),
  {
    ...{ account: AUTOSCALER, verbs: ['create', 'patch'], resources: ['events'] },
    reason: 'events of the core group, for API servers older than 1.19, which have no events.k8s.io/v1',
  },
  {
    ...{ account: AUTOSCALER, verbs: ['patch'], resources: ['events.events.k8s.io'] },
    reason: 'an event that repeats within minutes',
  },
  {
    ...{ account: AUTOSCALER, verbs: ['get'] },
    resources: [
      ...['horizontalpodautoscalers.autoscaling', 'cronhorizontalpodautoscalers.autoscaling.stke.com'],
      'cronhorizontalpodautoscalers.autoscaling.alibabacloud.com',
      ...['scaledobjects.keda.sh', 'scaledjobs.keda.sh'],
      ...['triggerauthentications.keda.sh', 'clustertriggerauthentications.keda.sh'],
    ],
    reason: 'read again after a conflict with a writer of the same object',
  },
  {
    ...{ account: AUTOSCALER, verbs: ['patch'] },
    resources: ['triggerauthentications.keda.sh', 'clustertriggerauthentications.keda.sh'],
    reason: "removes KEDA's finalizer from one that is deleted",
  },
  {
    ...{ account: AUTOSCALER, verbs: ['patch'], resources: ['clustertriggerauthentications/status.keda.sh'] },
    reason: 'the same code writes the status of a TriggerAuthentication',
  },
  {
    ...{ account: AUTOSCALER, verbs: ['create'], resources: ['horizontalpodautoscalers.autoscaling'] },
    reason: 'server-side apply of an HPA that does not exist requires it, and is a patch in the audit log',
  },
  {
    ...{
      account: AUTOSCALER,
      verbs: ['get'],
      resources: ['deployments.apps', 'statefulsets.apps', 'replicasets.apps'],
    },
    reason: 'the environment for parameters FromEnv, and the selector of a target of a custom metric',
  },
  {
    ...{ account: AUTOSCALER, verbs: ['list'], resources: ['endpointslices.discovery.k8s.io'] },
    reason: 'metrics-api with aggregateFromKubeServiceEndpoints, for which there are no pods in acceptance',
  },
  {
    ...{ account: AUTOSCALER, verbs: ['get', 'list'], resources: ['rollouts.argoproj.io'] },
    reason: 'a kind of target that no acceptance spec installs',
  },
  {
    ...{ account: AUTOSCALER, verbs: ['get'] },
    resources: ['services', 'routegroups.zalando.org', 'ingresses.networking.k8s.io'],
    reason: 'described objects of Object metrics, of kinds that no acceptance spec uses',
  },
  {
    ...{ account: AUTOSCALER, verbs: ['get', 'list'] },
    resources: ['*.custom.metrics.k8s.io', '*.external.metrics.k8s.io'],
    reason:
      "a read is get or list by the form of its path; granted as Kubernetes' own HPA controller has them",
  },
  {
    ...{ account: AUTOSCALER, verbs: ['get', 'update', 'delete'], resources: ['configmaps'] },
    names: [
      'autoscaler-hpa-memory',
      'autoscaler-hpa-memory-2',
      'autoscaler-hpa-memory-3',
      'autoscaler-hpa-memory-4',
    ],
    reason:
      'further ConfigMaps of the state of HPAs, which only thousands of HPAs fill, and empty ones, which are deleted',
  },
  {
    ...{ account: AUTOSCALER, verbs: ['get', 'update'] },
    resources: ['replicasets/scale.apps', 'statefulsets/scale.apps', 'replicationcontrollers/scale'],
    reason: 'the same code scales Deployments',
  },
  {
    ...{ account: AUTOSCALER, verbs: ['list', 'watch'], resources: ['replicasets.apps'] },
    reason: 'for an HPA with a ReplicaSet as its target; the same code reads Deployments',
  },
  {
    ...{ account: AUTOSCALER, verbs: ['list'], resources: ['limitranges'] },
    reason: 'for a cpu or memory trigger of a container without a request, which a LimitRange may default',
  },
  {
    ...{ account: AUTOSCALER, verbs: ['get'], resources: ['clusterscalingschedules.zalando.org'] },
    reason: 'read before its status is written; the same code reads a ScalingSchedule',
  },
  {
    ...{ account: AUTOSCALER, verbs: ['update'], resources: ['clusterscalingschedules/status.zalando.org'] },
    reason: 'the same code writes the status of a ScalingSchedule',
  },
  {
    ...{ account: AUTOSCALER, verbs: ['update'] },
    resources: ['scaledobjects/finalizers.keda.sh', 'scaledjobs/finalizers.keda.sh'],
    reason:
      'no request of its own: the admission plugin OwnerReferencesPermissionEnforcement takes it for blockOwnerDeletion',
  },
];

/** Reason why acceptance specs need not use a permission; `undefined` if there is none. */
export function explanationOf(permission: GrantedPermission): string | undefined {
  return EXPLANATIONS.find(
    ({ account, verbs, resources, names }) =>
      account === permission.account &&
      verbs.includes(permission.verb) &&
      resources.includes(permission.resource) &&
      (names === undefined ? permission.name === undefined : names.includes(permission.name ?? '')),
  )?.reason;
}
