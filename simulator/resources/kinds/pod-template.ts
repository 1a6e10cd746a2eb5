import type { Schema } from '../schema.ts';
import { keyed, open, TEXT_MAP, text } from './kind-builders.ts';

const container = open(
  {
    name: text(),
    imagePullPolicy: text({ default: 'IfNotPresent' }),
    ports: keyed(open({ protocol: text({ default: 'TCP' }) }), 'containerPort', 'protocol'),
    env: keyed(open(), 'name'),
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
