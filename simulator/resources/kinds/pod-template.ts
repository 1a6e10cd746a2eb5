import type { Schema } from '../schema.ts';
import { integer, integerOrText, keyed, list, object, open, text, textMap } from './kind-builders.ts';

const quantities: Schema = {
  type: 'object',
  description: 'Amounts of resources by name, as cpu and memory.',
  additionalProperties: { 'x-kubernetes-int-or-string': true },
};

const container = open(
  'A single application container that runs within a pod.',
  {
    name: text('Name of the container, unique in its pod.'),
    image: text('Container image name.'),
    imagePullPolicy: text('Always, Never or IfNotPresent.', { default: 'IfNotPresent' }),
    command: list('Entrypoint, which is not run in a shell.', { type: 'string' }),
    args: list('Arguments to the entrypoint.', { type: 'string' }),
    resources: open('Compute resources that it needs.', {
      requests: { ...quantities, description: 'The least that it is guaranteed.' },
      limits: { ...quantities, description: 'The most that it may use.' },
    }),
    ports: keyed(
      'Ports to expose from the container.',
      open('One port.', {
        containerPort: integer('Number of the port.'),
        protocol: text('TCP, UDP or SCTP.', { default: 'TCP' }),
        name: text('Name by which services refer to it.'),
      }),
      { keys: ['containerPort', 'protocol'] },
    ),
    env: keyed(
      'Environment variables.',
      open('One variable.', { name: text('Its name.'), value: text('Its value.') }),
      {
        keys: ['name'],
      },
    ),
    volumeMounts: keyed('Volumes in the file system.', open('One mount.', { mountPath: text('Where.') }), {
      keys: ['mountPath'],
    }),
    terminationMessagePath: text('Where it leaves its last words.', { default: '/dev/termination-log' }),
    terminationMessagePolicy: text('File or FallbackToLogsOnError.', { default: 'File' }),
  },
  { required: ['name'] },
);

/** The fields of `PodSpec` on which something depends here. */
export const POD_SPEC: Schema = open(
  'The desired state of the pod.',
  {
    containers: keyed('Containers of the pod.', container, { keys: ['name'] }),
    initContainers: keyed('Containers that run before the main containers.', container, { keys: ['name'] }),
    ephemeralContainers: keyed('Containers that are added for debugging.', container, { keys: ['name'] }),
    volumes: keyed('Volumes that containers may mount.', open('One volume.', { name: text('Its name.') }), {
      keys: ['name'],
    }),
    imagePullSecrets: keyed(
      'Credentials for images.',
      open('One of them.', { name: text('Its name.', { default: '' }) }),
      {
        keys: ['name'],
      },
    ),
    nodeName: text('The node that it runs on.'),
    nodeSelector: { ...textMap('Labels that its node must have.'), 'x-kubernetes-map-type': 'atomic' },
    restartPolicy: text('Always, OnFailure or Never.', { default: 'Always' }),
    terminationGracePeriodSeconds: integer('How long it may take to end.', { default: 30 }),
    dnsPolicy: text('How names are resolved.', { default: 'ClusterFirst' }),
    serviceAccountName: text('The service account that it runs as.'),
    securityContext: open('Security attributes of the whole pod.', {}, { default: {} }),
    schedulerName: text('Name of the scheduler.', { default: 'default-scheduler' }),
    tolerations: list('Taints of nodes that it bears.', open('One toleration.')),
    topologySpreadConstraints: keyed('How its kind is spread.', open('One rule.'), {
      keys: ['topologyKey', 'whenUnsatisfiable'],
    }),
    hostAliases: keyed('Further names of hosts.', open('One address.', { ip: text('The address.') }), {
      keys: ['ip'],
    }),
  },
  { required: ['containers'] },
);

/** `PodTemplateSpec` of the workloads. */
export const POD_TEMPLATE: Schema = object('The pods that it makes.', {
  metadata: open('Labels and annotations of the pods.', {
    labels: textMap('Labels of the pods.'),
    annotations: textMap('Annotations of the pods.'),
    creationTimestamp: { type: 'string', nullable: true },
  }),
  spec: POD_SPEC,
});

/** The number or percentage of pods that a rollout may add or remove. */
export const ROLLING_UPDATE: Schema = object('How far a rolling update may go at once.', {
  maxUnavailable: integerOrText('How many pods may be missing.'),
  maxSurge: integerOrText('How many pods there may be above the desired number.'),
  partition: integer('The ordinal from which on a StatefulSet is updated.'),
});
