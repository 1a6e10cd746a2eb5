import { fieldAt, type KubernetesObject } from '../../objects/kubernetes-object.ts';
import { withDefaults } from '../schema.ts';
import { type FieldError, invalidValue } from '../validate.ts';
import { autoscalerFromV1, autoscalerToV1, V1_STATUS_ANNOTATIONS } from './autoscaling-v1.ts';
import {
  type BuiltIn,
  builtIn,
  CONDITIONS,
  integer,
  kind,
  list,
  object,
  open,
  QUANTITY,
  text,
} from './kind-builders.ts';

const common = {
  scaleTargetRef: object(
    { apiVersion: text(), kind: text(), name: text() },
    { required: ['kind', 'name'], 'x-kubernetes-map-type': 'atomic' },
  ),
  minReplicas: integer({ default: 1 }),
  maxReplicas: integer(),
};
const required = { required: ['maxReplicas', 'scaleTargetRef'] };

const rules = object({
  stabilizationWindowSeconds: integer({ minimum: 0, maximum: 3600 }),
  selectPolicy: text({ default: 'Max', enum: ['Max', 'Min', 'Disabled'] }),
  tolerance: QUANTITY,
  policies: list(
    object(
      {
        type: text({ enum: ['Pods', 'Percent'] }),
        value: integer({ minimum: 1 }),
        periodSeconds: integer({ minimum: 1, maximum: 1800 }),
      },
      { required: ['type', 'value', 'periodSeconds'] },
    ),
  ),
});

const amount = { value: QUANTITY, averageValue: QUANTITY, averageUtilization: integer() };
const source = (field: string) => open({ [field]: open(amount) });

/** A metric of the spec with its target, or of the status with its current value. */
const metric = (field: 'target' | 'current') =>
  open(
    {
      type: text(),
      resource: source(field),
      containerResource: source(field),
      pods: source(field),
      object: source(field),
      external: source(field),
    },
    { required: ['type'] },
  );

const v2Schema = kind({
  spec: object(
    {
      ...common,
      metrics: list(metric('target')),
      behavior: object({ scaleUp: rules, scaleDown: rules }),
    },
    required,
  ),
  status: open({
    currentReplicas: integer(),
    desiredReplicas: integer(),
    conditions: CONDITIONS,
    currentMetrics: { ...list(metric('current')), nullable: true },
  }),
});

const v1Schema = kind({
  spec: object({ ...common, targetCPUUtilizationPercentage: integer() }, required),
  status: open(),
});

const autoscalers = {
  group: 'autoscaling',
  resource: 'horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
  isNamespaced: true,
  shortNames: ['hpa'],
  categories: ['all'],
  hasStatus: true,
  initialStatus: { desiredReplicas: 0, currentMetrics: null },
  storageVersion: 'autoscaling/v2',
  validate: checkAutoscaler,
} as const;

/** HorizontalPodAutoscalers in all versions from 1.20 on. */
export const AUTOSCALING: readonly BuiltIn[] = [
  builtIn({
    ...autoscalers,
    version: 'v2',
    schema: v2Schema,
    applyDefaults: completeAutoscaler,
    introducedIn: 23,
  }),
  builtIn({
    ...autoscalers,
    version: 'v1',
    schema: v1Schema,
    initialStatus: { currentReplicas: 0, desiredReplicas: 0 },
    statusAnnotations: V1_STATUS_ANNOTATIONS,
    fromStored: autoscalerToV1,
    toStored: (autoscaler) =>
      completeAutoscaler(withDefaults(autoscalerFromV1(autoscaler), v2Schema) as KubernetesObject),
  }),
  builtIn({
    ...autoscalers,
    version: 'v2beta2',
    schema: v2Schema,
    applyDefaults: completeAutoscaler,
    removedAfter: 25,
    toStored: (autoscaler) => ({ ...autoscaler, apiVersion: 'autoscaling/v2' }),
  }),
];

const DEFAULT_METRICS = [
  { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
];

const DEFAULT_BEHAVIOR = {
  scaleUp: {
    stabilizationWindowSeconds: 0,
    selectPolicy: 'Max',
    policies: [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: 100, periodSeconds: 15 },
    ],
  },
  scaleDown: { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] },
};

function completeAutoscaler(autoscaler: KubernetesObject): KubernetesObject {
  const spec = (autoscaler.spec ?? {}) as Readonly<Record<string, unknown>>;
  const metrics = Array.isArray(spec.metrics) && spec.metrics.length > 0 ? spec.metrics : DEFAULT_METRICS;
  const behavior = spec.behavior as { readonly scaleUp?: object; readonly scaleDown?: object } | undefined;
  const completed = behavior && {
    scaleUp: { ...DEFAULT_BEHAVIOR.scaleUp, ...behavior.scaleUp },
    scaleDown: { ...DEFAULT_BEHAVIOR.scaleDown, ...behavior.scaleDown },
  };
  return { ...autoscaler, spec: { ...spec, metrics, ...(completed ? { behavior: completed } : {}) } };
}

function checkAutoscaler(autoscaler: KubernetesObject): readonly FieldError[] {
  const min = Number(fieldAt(autoscaler, 'spec', 'minReplicas') ?? 1);
  const max = Number(fieldAt(autoscaler, 'spec', 'maxReplicas'));
  return [
    ...(min < 1 ? [invalidValue('spec.minReplicas', min, 'must be greater than or equal to 1')] : []),
    ...(max < 1 ? [invalidValue('spec.maxReplicas', max, 'must be greater than 0')] : []),
    ...(max < min
      ? [invalidValue('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`')]
      : []),
  ];
}
