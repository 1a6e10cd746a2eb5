import type { GrantedPermission } from './granted-permissions.ts';

/** Permissions that a program needs though no acceptance spec makes it use them. */
interface Explanation {
  readonly account: string;
  readonly verbs: readonly string[];
  readonly resources: readonly string[];
  readonly reason: string;
}

const AUTOSCALER = 'kube-system:autoscaler';

/** The one table of permissions that acceptance does not see used, each with its reason. */
export const EXPLANATIONS: readonly Explanation[] = [
  {
    ...{ account: 'kube-system:metrics-server', verbs: ['get'], resources: ['nodes/metrics', 'nodes/stats'] },
    reason: 'kubelets decide by them; metrics-server.acceptance.ts compares what they were asked',
  },
  {
    ...{ account: AUTOSCALER, verbs: ['create', 'patch'], resources: ['events'] },
    reason: 'events of the core group, for API servers older than 1.19, which have no events.k8s.io/v1',
  },
  {
    ...{ account: AUTOSCALER, verbs: ['get', 'list'], resources: ['rollouts.argoproj.io'] },
    reason: 'a target of HPAs that no acceptance spec installs',
  },
  {
    ...{
      account: AUTOSCALER,
      verbs: ['get'],
      resources: ['routegroups.zalando.org', 'ingresses.networking.k8s.io'],
    },
    reason: 'what metrics of Skipper are about, which no acceptance spec installs',
  },
  {
    ...{ account: AUTOSCALER, verbs: ['get', 'update'] },
    resources: ['replicasets/scale.apps', 'statefulsets/scale.apps', 'replicationcontrollers/scale'],
    reason: 'scaled as Deployments are, by the same code',
  },
  {
    ...{ account: AUTOSCALER, verbs: ['update'] },
    resources: ['scaledobjects/finalizers.keda.sh', 'scaledjobs/finalizers.keda.sh'],
    reason:
      'no request of its own: the admission plugin OwnerReferencesPermissionEnforcement takes it for blockOwnerDeletion',
  },
];

/** The reason why acceptance does not see a permission used; `undefined` where there is none. */
export function explanationOf(permission: GrantedPermission): string | undefined {
  return EXPLANATIONS.find(
    ({ account, verbs, resources }) =>
      account === permission.account &&
      verbs.includes(permission.verb) &&
      resources.includes(permission.resource),
  )?.reason;
}
