import { isDeepStrictEqual } from 'node:util';
import { fieldAt, type KubernetesObject } from '../../objects/kubernetes-object.ts';
import { formatSelector, selectsLabels } from '../../objects/label-selector.ts';
import type { ScaleFields } from '../resource-type.ts';
import { type FieldError, invalidValue } from '../validate.ts';
import {
  type BuiltIn,
  builtIn,
  CONDITIONS,
  integer,
  LABEL_SELECTOR,
  open,
  openKind,
  text,
} from './kind-builders.ts';
import { POD_TEMPLATE } from './pod-template.ts';

const apps = { group: 'apps', version: 'v1', isNamespaced: true } as const;
const STATUS = open({ conditions: CONDITIONS });
const WORKLOAD = {
  replicas: integer({ default: 1, minimum: 0 }),
  minReadySeconds: integer({ minimum: 0 }),
  selector: LABEL_SELECTOR,
  template: POD_TEMPLATE,
};
const strategy = (...types: readonly string[]) =>
  open({ type: text({ default: 'RollingUpdate', enum: types }) }, { default: {} });

const deploymentSchema = openKind({
  spec: open(
    {
      ...WORKLOAD,
      strategy: strategy('Recreate', 'RollingUpdate'),
      revisionHistoryLimit: integer({ default: 10 }),
      progressDeadlineSeconds: integer({ default: 600 }),
    },
    { required: ['selector', 'template'] },
  ),
  status: STATUS,
});

const replicaSetSchema = openKind({ spec: open(WORKLOAD, { required: ['selector'] }), status: STATUS });

const statefulSetSchema = openKind({
  spec: open(
    {
      ...WORKLOAD,
      podManagementPolicy: text({ default: 'OrderedReady' }),
      updateStrategy: strategy('RollingUpdate', 'OnDelete'),
      revisionHistoryLimit: integer({ default: 10 }),
    },
    { required: ['selector', 'template'] },
  ),
  status: STATUS,
});

const jobSchema = openKind({
  spec: open(
    {
      parallelism: integer({ default: 1, minimum: 0 }),
      completions: integer({ minimum: 0 }),
      backoffLimit: integer({ default: 6, minimum: 0 }),
      suspend: { type: 'boolean', default: false },
      completionMode: text({ default: 'NonIndexed' }),
      selector: LABEL_SELECTOR,
      template: POD_TEMPLATE,
    },
    { required: ['template'] },
  ),
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
