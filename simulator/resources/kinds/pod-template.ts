import type { Schema } from '../schema.ts';
import { keyed, open, QUANTITY_MAP, TEXT_MAP, text } from './kind-builders.ts';

const RESOURCES = open({ requests: QUANTITY_MAP, limits: QUANTITY_MAP });

const container = open(
  {
    name: text(),
    imagePullPolicy: text({ default: 'IfNotPresent' }),
    ports: keyed(open({ protocol: text({ default: 'TCP' }) }), 'containerPort', 'protocol'),
    env: keyed(open(), 'name'),
    resources: RESOURCES,
    volumeMounts: keyed(open(), 'mountPath'),
    terminationMessagePath: text({ default: '/dev/termination-log' }),
    terminationMessagePolicy: text({ default: 'File' }),
  },
  { required: ['name'] },
);

/** The fields of `PodSpec` with a rule. */
export const POD_SPEC: Schema = open(
  {
    containers: keyed(container, 'name'),
    initContainers: keyed(container, 'name'),
    resources: RESOURCES,
    overhead: QUANTITY_MAP,
    volumes: keyed(open(), 'name'),
    imagePullSecrets: keyed(open({ name: text({ default: '' }) }), 'name'),
    nodeSelector: { ...TEXT_MAP, 'x-kubernetes-map-type': 'atomic' },
    restartPolicy: text({ default: 'Always' }),
    terminationGracePeriodSeconds: { type: 'integer', default: 30 },
    dnsPolicy: text({ default: 'ClusterFirst' }),
    securityContext: open({}, { default: {} }),
    schedulerName: text({ default: 'default-scheduler' }),
    topologySpreadConstraints: keyed(open(), 'topologyKey', 'whenUnsatisfiable'),
    hostAliases: keyed(open(), 'ip'),
  },
  { required: ['containers'] },
);

/** `PodTemplateSpec` of the workloads. */
export const POD_TEMPLATE: Schema = open({
  metadata: open({ labels: TEXT_MAP, annotations: TEXT_MAP }),
  spec: POD_SPEC,
});

interface Resources {
  readonly limits?: Readonly<Record<string, string>>;
  readonly requests?: Readonly<Record<string, string>>;
}
type Containers = readonly { readonly resources?: Resources }[];

/** The spec of a pod, whose containers request what they are limited to unless they request something else. */
export function withRequestsOfLimits<Spec extends Readonly<Record<string, unknown>>>(spec: Spec): Spec {
  const completed = Object.entries(spec).map(([field, value]): [string, unknown] => {
    const isContainers = (field === 'containers' || field === 'initContainers') && Array.isArray(value);
    return [field, isContainers ? withRequests(value as Containers) : value];
  });
  return Object.fromEntries(completed) as Spec;
}

function withRequests(containers: Containers): Containers {
  return containers.map((container) => {
    const { resources } = container;
    if (!resources?.limits) return container;
    return {
      ...container,
      resources: { ...resources, requests: { ...resources.limits, ...resources.requests } },
    };
  });
}
