import { isDeepStrictEqual } from 'node:util';
import { fieldAt, type KubernetesObject } from '../../objects/kubernetes-object.ts';
import { formatSelector, selectsLabels } from '../../objects/label-selector.ts';
import {
  AGE,
  type Column,
  count as countColumn,
  listAt,
  NAME,
  NONE,
  numberAt,
  textAt,
  text as textColumn,
} from '../columns.ts';
import type { ScaleFields } from '../resource-type.ts';
import { type FieldError, invalidValue } from '../validate.ts';
import {
  type BuiltIn,
  builtIn,
  CONDITIONS,
  flag,
  integer,
  kind,
  LABEL_SELECTOR,
  object,
  open,
  text,
} from './kind-builders.ts';
import { POD_TEMPLATE, ROLLING_UPDATE } from './pod-template.ts';

const apps = { group: 'apps', version: 'v1', isNamespaced: true } as const;
const REPLICAS = integer('Number of desired pods.', { default: 1, minimum: 0 });
const MIN_READY = integer('How long a pod must be ready to count as available.', { minimum: 0 });

const count = (description: string) => integer(description);

const STATUS = open('The observed state.', {
  observedGeneration: integer('The generation that was observed.', { format: 'int64' }),
  replicas: count('How many pods there are.'),
  readyReplicas: count('How many of them are ready.'),
  availableReplicas: count('How many of them were ready for long enough.'),
  updatedReplicas: count('How many of them are of the present template.'),
  unavailableReplicas: count('How many are missing still.'),
  conditions: CONDITIONS,
});

const required = { required: ['selector', 'template'] };

const deploymentSchema = kind('Deployment enables declarative updates for Pods and ReplicaSets.', {
  spec: object(
    'The desired state of the Deployment.',
    {
      replicas: REPLICAS,
      selector: { ...LABEL_SELECTOR, description: 'Label selector for pods; it cannot be changed.' },
      template: POD_TEMPLATE,
      strategy: object(
        'Strategy for the replacement of pods.',
        {
          type: text('Recreate or RollingUpdate.', {
            default: 'RollingUpdate',
            enum: ['Recreate', 'RollingUpdate'],
          }),
          rollingUpdate: ROLLING_UPDATE,
        },
        { default: {} },
      ),
      minReadySeconds: MIN_READY,
      revisionHistoryLimit: integer('Number of old ReplicaSets that are retained.', { default: 10 }),
      paused: flag('Whether rollouts are paused.'),
      progressDeadlineSeconds: integer('How long progress may take.', { default: 600 }),
    },
    required,
  ),
  status: STATUS,
});

const replicaSetSchema = kind('ReplicaSet ensures that a number of pod replicas run at any time.', {
  spec: object(
    'The desired state of the ReplicaSet.',
    { replicas: REPLICAS, minReadySeconds: MIN_READY, selector: LABEL_SELECTOR, template: POD_TEMPLATE },
    { required: ['selector'] },
  ),
  status: STATUS,
});

const statefulSetSchema = kind('StatefulSet represents a set of pods with consistent identities.', {
  spec: open(
    'The desired state of the StatefulSet.',
    {
      replicas: REPLICAS,
      selector: LABEL_SELECTOR,
      template: POD_TEMPLATE,
      serviceName: text('The service that governs its network identity.'),
      podManagementPolicy: text('OrderedReady or Parallel.', { default: 'OrderedReady' }),
      updateStrategy: object(
        'Strategy for the replacement of pods.',
        {
          type: text('RollingUpdate or OnDelete.', { default: 'RollingUpdate' }),
          rollingUpdate: ROLLING_UPDATE,
        },
        { default: {} },
      ),
      revisionHistoryLimit: integer('Number of revisions that are retained.', { default: 10 }),
    },
    required,
  ),
  status: STATUS,
});

const jobSchema = kind('Job represents the configuration of a single job.', {
  spec: open(
    'The desired state of the Job.',
    {
      parallelism: integer('How many pods run at once.', { default: 1, minimum: 0 }),
      completions: integer('How many pods must succeed.', { minimum: 0 }),
      backoffLimit: integer('How many pods may fail.', { default: 6, minimum: 0 }),
      activeDeadlineSeconds: integer('How long it may run.'),
      ttlSecondsAfterFinished: integer('Time until it is deleted after its end.'),
      suspend: flag('Whether the creation of pods is suspended.', { default: false }),
      completionMode: text('NonIndexed or Indexed.', { default: 'NonIndexed' }),
      selector: LABEL_SELECTOR,
      template: POD_TEMPLATE,
    },
    { required: ['template'] },
  ),
  status: open('The observed state.', {
    active: count('How many pods run.'),
    ready: count('How many of them are ready.'),
    succeeded: count('How many pods have succeeded.'),
    failed: count('How many pods have failed.'),
    conditions: { ...CONDITIONS, 'x-kubernetes-list-type': 'atomic' },
  }),
});

/** The scale of workloads with `spec.replicas`. */
const REPLICAS_SCALE: ScaleFields = {
  replicas: (workload) => {
    const replicas = fieldAt(workload, 'spec', 'replicas');
    return typeof replicas === 'number' ? replicas : 1;
  },
  withReplicas: (workload, replicas) => ({ ...workload, spec: { ...(workload.spec as object), replicas } }),
  statusReplicas: (workload) => Number(fieldAt(workload, 'status', 'replicas') ?? 0),
  selector: (workload) => formatSelector(fieldAt(workload, 'spec', 'selector')),
  replicasPath: ['f:spec', 'f:replicas'],
};

const workload = {
  ...apps,
  categories: ['all'],
  hasStatus: true,
  hasGeneration: true,
  scale: REPLICAS_SCALE,
  validate: checkWorkload,
  initialStatus: {},
} as const;

/** The groups apps and batch. */
export const WORKLOADS: readonly BuiltIn[] = [
  builtIn({
    ...workload,
    resource: 'deployments',
    kind: 'Deployment',
    shortNames: ['deploy'],
    schema: deploymentSchema,
    applyDefaults: withRollingUpdate,
  }),
  builtIn({
    ...workload,
    resource: 'replicasets',
    kind: 'ReplicaSet',
    shortNames: ['rs'],
    schema: replicaSetSchema,
    initialStatus: { replicas: 0 },
  }),
  builtIn({
    ...workload,
    resource: 'statefulsets',
    kind: 'StatefulSet',
    shortNames: ['sts'],
    schema: statefulSetSchema,
    initialStatus: { replicas: 0 },
  }),
  builtIn({
    group: 'batch',
    version: 'v1',
    isNamespaced: true,
    resource: 'jobs',
    kind: 'Job',
    categories: ['all'],
    hasStatus: true,
    hasGeneration: true,
    initialStatus: {},
    schema: jobSchema,
    applyDefaults: withOwnSelector,
    validate: (job, previous) => (previous ? unchanged(job, previous, 'template') : []),
  }),
];

/** Validates rules that the schema cannot express. */
function checkWorkload(
  object: KubernetesObject,
  previous: KubernetesObject | undefined,
): readonly FieldError[] {
  const selector = fieldAt(object, 'spec', 'selector');
  const labels = fieldAt(object, 'spec', 'template', 'metadata', 'labels') ?? {};
  const isSelecting = Object.keys((selector ?? {}) as object).length > 0;
  const errors: FieldError[] = previous ? [...unchanged(object, previous, 'selector')] : [];
  if (!isSelecting)
    errors.push(invalidValue('spec.selector', selector, 'empty selector is invalid for deployment'));
  else if (!selectsLabels(selector, labels as Readonly<Record<string, string>>))
    errors.push(
      invalidValue('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'),
    );
  return errors;
}

function unchanged(
  object: KubernetesObject,
  previous: KubernetesObject,
  field: string,
): readonly FieldError[] {
  const value = fieldAt(object, 'spec', field);
  const isSame = isDeepStrictEqual(value, fieldAt(previous, 'spec', field));
  return isSame ? [] : [invalidValue(`spec.${field}`, value, 'field is immutable')];
}

function withRollingUpdate(deployment: KubernetesObject): KubernetesObject {
  const spec = deployment.spec as {
    readonly strategy?: { readonly type?: string; readonly rollingUpdate?: object };
  };
  if (spec?.strategy?.type !== 'RollingUpdate') return deployment;
  const rollingUpdate = { maxUnavailable: '25%', maxSurge: '25%', ...spec.strategy.rollingUpdate };
  return { ...deployment, spec: { ...spec, strategy: { ...spec.strategy, rollingUpdate } } };
}

/** A Job selects its pods by a label that it adds to them. */
function withOwnSelector(job: KubernetesObject): KubernetesObject {
  const spec = (job.spec ?? {}) as Readonly<Record<string, unknown>>;
  const labels = { 'job-name': job.metadata.name, 'batch.kubernetes.io/job-name': job.metadata.name };
  const template = (spec.template ?? {}) as { readonly metadata?: { readonly labels?: object } };
  const completions = spec.completions ?? (spec.parallelism === 1 ? 1 : undefined);
  return {
    ...job,
    spec: {
      ...spec,
      ...(completions === undefined ? {} : { completions }),
      selector: spec.selector ?? { matchLabels: { 'batch.kubernetes.io/job-name': job.metadata.name } },
      template: {
        ...template,
        metadata: { ...template.metadata, labels: { ...template.metadata?.labels, ...labels } },
      },
    },
  };
}

/** The columns of workloads and HorizontalPodAutoscalers, by resource. */
export const WORKLOAD_COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  deployments: [
    NAME,
    textColumn(
      'Ready',
      'Number of the pod with ready state',
      (one) => `${numberAt(one, 'status', 'readyReplicas')}/${numberAt(one, 'spec', 'replicas')}`,
    ),
    textColumn(
      'Up-to-date',
      'How many pods are of the present template.',
      (one) => textAt(one, 'status', 'updatedReplicas') || '0',
    ),
    textColumn(
      'Available',
      'How many pods are available.',
      (one) => textAt(one, 'status', 'availableReplicas') || '0',
    ),
    AGE,
    textColumn('Selector', 'Selector of its pods.', selectorText, 1),
  ],
  replicasets: [
    NAME,
    countColumn('Desired', 'How many pods there should be.', 'spec', 'replicas'),
    countColumn('Current', 'How many pods there are.', 'status', 'replicas'),
    countColumn('Ready', 'How many pods are ready.', 'status', 'readyReplicas'),
    AGE,
    textColumn('Selector', 'Selector of its pods.', selectorText, 1),
  ],
  statefulsets: [
    NAME,
    textColumn(
      'Ready',
      'How many pods are ready, of how many.',
      (one) => `${numberAt(one, 'status', 'readyReplicas')}/${numberAt(one, 'spec', 'replicas')}`,
    ),
    AGE,
  ],
  jobs: [
    NAME,
    textColumn('Status', 'Running, Complete, Failed or Suspended.', jobStatus),
    textColumn(
      'Completions',
      'How many pods have succeeded, of how many.',
      (one) => `${numberAt(one, 'status', 'succeeded')}/${textAt(one, 'spec', 'completions') || '1'}`,
    ),
    AGE,
  ],
  horizontalpodautoscalers: [
    NAME,
    textColumn(
      'Reference',
      'The scaled resource.',
      (one) =>
        `${textAt(one, 'spec', 'scaleTargetRef', 'kind')}/${textAt(one, 'spec', 'scaleTargetRef', 'name')}`,
    ),
    countColumn('MinPods', 'The least number of pods.', 'spec', 'minReplicas'),
    countColumn('MaxPods', 'The greatest number of pods.', 'spec', 'maxReplicas'),
    countColumn('Replicas', 'How many pods there are.', 'status', 'currentReplicas'),
    AGE,
  ],
};

function selectorText(object: KubernetesObject): string {
  return formatSelector(fieldAt(object, 'spec', 'selector')) || NONE;
}

function jobStatus(job: KubernetesObject): string {
  const isTrue = (type: string) =>
    listAt(job, 'status', 'conditions').some((one) => one.type === type && one.status === 'True');
  if (isTrue('Complete')) return 'Complete';
  if (isTrue('Failed')) return 'Failed';
  return fieldAt(job, 'spec', 'suspend') === true ? 'Suspended' : 'Running';
}
