import type * as z from 'zod';
import { getOwn } from '../get-own.ts';
import { findWrongField } from './find-wrong-field.ts';
import {
  defaultedSpec,
  FAILED_METRIC_STATUS,
  type HorizontalPodAutoscaler,
  type HpaBehavior,
  type HpaSpec,
  type HpaStatus,
  type MetricSpec,
  type MetricStatus,
} from './horizontal-pod-autoscaler.ts';
import {
  BEHAVIOR_SCHEMA,
  CONDITION_SCHEMA,
  HPA_SPEC_SCHEMA,
  HPA_STATUS_SCHEMA,
  METRIC_SPEC_SCHEMA,
  METRIC_STATUS_SCHEMA,
} from './hpa-schema.ts';
import {
  type KubernetesObject,
  measureObject,
  type ObjectMeta,
  propertyOf,
  readBoundedObject,
  readObject,
} from './kubernetes-object.ts';
import { type StatusManager, statusManagers } from './managed-fields.ts';

/** Supported versions of the group `autoscaling`, in order of preference. */
export const HPA_VERSIONS = ['v2', 'v2beta2', 'v1'] as const;
export type HpaVersion = (typeof HPA_VERSIONS)[number];

/** Fields that users of HPAs may need beside the target and the bounds of replicas, which all have. */
type HpaField =
  /** All of it but `managedFields`: an update without some metadata would delete that. */
  | 'metadata'
  | 'resourceVersion'
  | 'creationTimestamp'
  | 'ownerReferences'
  /** With its defaults. */
  | 'spec'
  /** Metrics of the spec other than those of resources and containers. */
  | 'customMetrics'
  | 'status'
  /** The two replica counts of the status. */
  | 'replicas'
  | 'conditions'
  | 'statusWriters';

/** Requirements of one user of HPAs. */
export interface HpaNeeds {
  readonly fields: readonly HpaField[];
  /** Which annotations it needs if it does not need all metadata; none by default. */
  readonly annotations?: (key: string) => boolean;
  /** Which entries of `managedFields` it needs; none by default. */
  readonly managedFields?: (entry: unknown) => boolean;
}

/** An HPA in the form of `autoscaling/v2`, whatever version it was read in. Fields that no user needs are absent. */
export interface Hpa extends HorizontalPodAutoscaler {
  readonly metadata: ObjectMeta & {
    readonly namespace: string;
    readonly uid: string;
    /** The entries that users need. An update must not send them: the others would be deleted. */
    readonly managedFields?: readonly unknown[];
  };
  /** Managers of its status, by `managedFields`. */
  readonly statusWriters: readonly StatusManager[];
  /**
   * Whether most of its metadata and status are left out, too, since its namespace has too many HPAs: an update needs the
   * whole HPA.
   */
  readonly isReduced?: true;
}

/** Of all HPAs of a namespace: 10,000 of one metric. */
const MAX_NAMESPACE_BYTES = 64 * 1024 * 1024;
/** Of each part of an HPA beyond that bound. */
const MAX_REDUCED_BYTES = 4 * 1024;
const NO_TARGET = { kind: '', name: '' };

const sizes = new WeakMap<Hpa, number>();

const BUDGET = {
  maxBytes: MAX_NAMESPACE_BYTES,
  sizeBytes: (hpa: Hpa) => sizes.get(hpa) ?? measureObject(hpa),
  reduce({ metadata, spec, status }: Hpa): Hpa {
    const { namespace, name, uid, resourceVersion, creationTimestamp, ownerReferences } = metadata;
    const { scaleTargetRef, minReplicas, maxReplicas } = spec;
    const { conditions, desiredReplicas = 0 }: Partial<HpaStatus> = status ?? {};
    const isSmall = (value: unknown) => measureObject(value) <= MAX_REDUCED_BYTES;
    return {
      metadata: {
        ...{ namespace, name, uid },
        ...(resourceVersion && { resourceVersion }),
        ...(creationTimestamp && { creationTimestamp }),
        ...(ownerReferences && isSmall(ownerReferences) && { ownerReferences }),
      },
      spec: {
        scaleTargetRef: isSmall(scaleTargetRef) ? scaleTargetRef : NO_TARGET,
        ...(minReplicas !== undefined && { minReplicas }),
        maxReplicas,
      },
      ...(conditions && isSmall(conditions) && { status: { desiredReplicas, conditions } }),
      omitted: `the HPAs of the namespace together take more than ${MAX_NAMESPACE_BYTES} bytes`,
      isReduced: true,
      statusWriters: NONE,
    };
  },
};

/** HPAs as informers cache them. */
export const HPAS = {
  resource: {
    group: 'autoscaling',
    kind: 'HorizontalPodAutoscaler',
    plural: 'horizontalpodautoscalers',
    namespaced: true,
  },
  versions: HPA_VERSIONS,
  budget: BUDGET,
  decoder(needs: readonly HpaNeeds[], version: string): (value: unknown) => Hpa {
    const united: UnitedNeeds = {
      fields: new Set(needs.flatMap(({ fields }) => fields)),
      needsAnnotation: (key) => needs.some(({ annotations }) => annotations?.(key)),
      needsManagedFields: (entry) => needs.some(({ managedFields }) => managedFields?.(entry)),
    };
    return (value) => decode(value, version, united);
  },
} as const;

/**
 * Reads an HPA of the API server with all fields but entries of `managedFields`. `autoscaling/v2beta2` has the same
 * fields as v2.
 *
 * @throws an Error with the name of the field that has the wrong type, and for one with too many values or too much metadata
 */
export function readHpa(value: unknown, version: string): Hpa {
  return decode(value, version, ALL);
}

/**
 * Reads an HPA of the API server as it is, in any version.
 *
 * @throws an Error with the name of the field that has the wrong type
 */
export function readPlainHpa<T extends KubernetesObject>(value: unknown): T {
  const object = readBoundedObject<T & { readonly spec?: unknown; readonly status?: unknown }>(value);
  readSpec(object.spec);
  readStatus(object.status);
  return object;
}

interface UnitedNeeds {
  readonly fields: ReadonlySet<HpaField>;
  readonly needsAnnotation: (key: string) => boolean;
  readonly needsManagedFields: (entry: unknown) => boolean;
}

const ALL: UnitedNeeds = {
  fields: new Set<HpaField>(['metadata', 'spec', 'status', 'statusWriters']),
  needsAnnotation: () => true,
  needsManagedFields: () => false,
};

const NONE: readonly never[] = [];

function decode(value: unknown, version: string, needs: UnitedNeeds): Hpa {
  const object = readObject<KubernetesObject & { readonly spec?: unknown; readonly status?: unknown }>(value);
  const { fields } = needs;
  const { managedFields, ...metadata }: ObjectMeta & { readonly managedFields?: unknown } = object.metadata;
  const { annotations = {} } = metadata;
  const isV1 = version === 'v1';
  const { spec: given, omitted } = omitExcess(isV1 ? specFromV1(object.spec, annotations) : object.spec);
  measureObject({ ...object, spec: given }); // throws for too many values
  const status = readStatus(isV1 ? statusFromV1(object.status, annotations) : object.status);
  const spec = readSpec(given);
  const entries = (Array.isArray(managedFields) ? managedFields : []).filter(needs.needsManagedFields);
  const cached = neededMetadata(
    { ...metadata, annotations: isV1 ? withoutV1Annotations(annotations) : annotations },
    needs,
  );
  if (measureObject([cached, spec.scaleTargetRef]) > MAX_METADATA_BYTES)
    throw new Error(`Cannot read an HPA: more than ${MAX_METADATA_BYTES / 1024} KiB of metadata`);
  const needed = neededSpec(withoutNulls(spec), fields);
  const hpa: Hpa = {
    metadata: { ...cached, ...(entries.length > 0 && { managedFields: entries }) },
    spec: omitted === undefined ? needed : { ...needed, metrics: NONE },
    ...(omitted !== undefined && { omitted }),
    ...(status && neededStatus(status, fields)),
    statusWriters: fields.has('statusWriters') ? statusManagers(managedFields) : NONE,
  };
  sizes.set(hpa, measureObject(hpa));
  return hpa;
}

/** An API server accepts thousands, and each is compared with all pods; ScaledObjects have as many at most. */
const MAX_METRICS = 500;
/** Twice the size of 500 metrics. */
const MAX_SPEC_BYTES = 512 * 1024;
/** Annotations of an object may have 256 KiB; labels have no bound. */
const MAX_METADATA_BYTES = 320 * 1024;

/** The spec, without metrics and behavior where they exceed their bounds. */
function omitExcess(spec: unknown): { readonly spec: unknown; readonly omitted?: string } {
  const metrics = propertyOf(spec, 'metrics');
  const count = Array.isArray(metrics) ? metrics.length : 0;
  const omitted =
    count > MAX_METRICS
      ? `the HPA has ${count} metrics, more than ${MAX_METRICS}`
      : measureObject(spec) > MAX_SPEC_BYTES
        ? `the spec of the HPA has more than ${MAX_SPEC_BYTES / 1024} KiB`
        : undefined;
  if (omitted === undefined || !isFields(spec)) return { spec };
  const { metrics: _metrics, behavior: _behavior, ...rest } = spec;
  return { spec: rest, omitted };
}

function readSpec(spec: unknown): HpaSpec {
  rejectWrong(HPA_SPEC_SCHEMA, 'spec', spec);
  return spec as HpaSpec;
}

function readStatus(status: unknown): HpaStatus | null | undefined {
  rejectWrong(HPA_STATUS_SCHEMA, 'status', status);
  return status as HpaStatus | null | undefined;
}

/** What the schema makes of the value is not used: fields stay as they are. */
function rejectWrong(schema: z.ZodType, name: string, value: unknown): void {
  const wrong = findWrongField(schema, name, value);
  if (wrong !== undefined) throw new Error(`Cannot read an HPA: ${wrong}`);
}

function neededMetadata(metadata: ObjectMeta, { fields, needsAnnotation }: UnitedNeeds): Hpa['metadata'] {
  const { namespace = '', uid = '' } = metadata;
  if (fields.has('metadata')) return { ...metadata, namespace, uid };
  const { name, resourceVersion, creationTimestamp, ownerReferences, annotations = {} } = metadata;
  const needed = Object.entries(annotations).filter(([key]) => needsAnnotation(key));
  return {
    ...{ namespace, name, uid },
    ...(needed.length > 0 && { annotations: Object.fromEntries(needed) }),
    ...(fields.has('resourceVersion') && resourceVersion && { resourceVersion }),
    ...(fields.has('creationTimestamp') && creationTimestamp && { creationTimestamp }),
    ...(fields.has('ownerReferences') && ownerReferences && { ownerReferences }),
  };
}

function neededSpec(spec: HpaSpec, fields: ReadonlySet<HpaField>): HpaSpec {
  if (fields.has('spec')) return defaultedSpec(spec);
  const { scaleTargetRef, minReplicas = 1, maxReplicas, metrics = [] } = spec;
  const custom = fields.has('customMetrics') ? metrics.filter(({ type }) => CUSTOM.has(type)) : [];
  return { scaleTargetRef, minReplicas, maxReplicas, ...(custom.length > 0 && { metrics: custom }) };
}

const CUSTOM: ReadonlySet<string> = new Set(['Pods', 'Object', 'External']);

function neededStatus(status: HpaStatus, fields: ReadonlySet<HpaField>): Pick<Hpa, 'status'> {
  if (fields.has('status')) return { status };
  if (!fields.has('replicas') && !fields.has('conditions')) return {};
  const { currentReplicas, desiredReplicas, conditions } = status;
  return {
    status: {
      ...(currentReplicas !== undefined && { currentReplicas }),
      desiredReplicas,
      ...(fields.has('conditions') && conditions && { conditions }),
    },
  };
}

/**
 * An HPA with another status, for an update of the status subresource, which ignores the spec: in `autoscaling/v1`
 * without the annotations that are part of the spec.
 */
export function sentHpa(
  hpa: Pick<Hpa, 'metadata' | 'spec'>,
  status: HpaStatus,
  version: string,
): KubernetesObject & { readonly spec: object; readonly status: object } {
  const { spec } = hpa;
  const { managedFields: _managedFields, ...metadata } = hpa.metadata;
  if (version !== 'v1') return { metadata, spec, status };
  const { metrics: _metrics, behavior: _behavior, ...specOfV1 } = spec;
  const v1 = statusToV1(status);
  const annotations = { ...metadata.annotations, ...v1.annotations };
  return { metadata: { ...metadata, annotations }, spec: specOfV1, status: v1.status };
}

/** Fields that are null count as absent. */
function withoutNulls(spec: HpaSpec): HpaSpec {
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== null)) as unknown as HpaSpec;
}

// The API server serves fields that autoscaling/v1 does not have as annotations.
const PREFIX = 'autoscaling.alpha.kubernetes.io/';
const METRICS = `${PREFIX}metrics`;
const BEHAVIOR = `${PREFIX}behavior`;
const CURRENT_METRICS = `${PREFIX}current-metrics`;
const CONDITIONS = `${PREFIX}conditions`;

type Annotations = Readonly<Record<string, string>>;

/** A spec of `autoscaling/v1` in the form of v2. An annotation that cannot be parsed is ignored. */
function specFromV1(spec: unknown, annotations: Annotations): unknown {
  if (!isFields(spec)) return spec;
  const { targetCPUUtilizationPercentage: cpu, ...common } = spec;
  const others = annotatedList(annotations, METRICS) ?? [];
  const behavior = behaviorFromV1(annotated(annotations, BEHAVIOR));
  return {
    ...common,
    metrics: [...(typeof cpu === 'number' ? [cpuMetric(cpu)] : []), ...others.map(metricSpecFromV1)],
    ...(behavior && { behavior }),
  };
}

/** A status of `autoscaling/v1` in the form of v2. */
function statusFromV1(status: unknown, annotations: Annotations): unknown {
  if (!isFields(status)) return status;
  const { currentCPUUtilizationPercentage: _, ...common } = status;
  const currentMetrics = annotatedList(annotations, CURRENT_METRICS)?.map(metricStatusFromV1);
  const conditions = annotatedList(annotations, CONDITIONS)?.filter(isCondition);
  return { ...common, currentMetrics: currentMetrics ?? null, ...(conditions && { conditions }) };
}

/** A status in the form of `autoscaling/v1`, with annotations for the rest of it. */
function statusToV1({ currentMetrics, conditions, ...status }: HpaStatus): {
  readonly status: object;
  readonly annotations: Annotations;
} {
  const metrics = currentMetrics ?? [];
  const currentCpu = metrics.find(({ resource }) => resource?.name === 'cpu')?.resource?.current
    .averageUtilization;
  return {
    status: { ...status, ...(currentCpu !== undefined && { currentCPUUtilizationPercentage: currentCpu }) },
    annotations: {
      ...(metrics.length > 0 && { [CURRENT_METRICS]: JSON.stringify(metrics.map(metricStatusToV1)) }),
      ...(conditions && { [CONDITIONS]: JSON.stringify(conditions) }),
    },
  };
}

/** The annotations of users. */
function withoutV1Annotations(annotations: Annotations): Annotations {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => !OURS.has(name)));
}

const OURS: ReadonlySet<string> = new Set([METRICS, BEHAVIOR, CURRENT_METRICS, CONDITIONS]);

function cpuMetric(averageUtilization: number): MetricSpec {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } };
}

function isCondition(value: unknown): boolean {
  return CONDITION_SCHEMA.safeParse(value).success;
}

function annotatedList(annotations: Annotations, name: string): readonly unknown[] | undefined {
  const value = annotated(annotations, name);
  return Array.isArray(value) ? value : undefined;
}

function annotated(annotations: Annotations, name: string): unknown {
  const text = getOwn(annotations, name);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // written by another client
  }
}

/** Deeper values are not a behavior. */
const MAX_BEHAVIOR_DEPTH = 4;

/**
 * The behavior in an annotation of autoscaling/v1, in the form of v2: the API server writes the names of its Go fields,
 * such as `ScaleUp`, and null for absent ones.
 *
 * @returns `undefined` for an invalid one
 */
function behaviorFromV1(value: unknown): HpaBehavior | undefined {
  const read = withOurNames(value, MAX_BEHAVIOR_DEPTH);
  return BEHAVIOR_SCHEMA.safeParse(read).success ? (read as HpaBehavior) : undefined;
}

/** Converts names to lower camel case and drops null values. */
function withOurNames(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return undefined;
  if (Array.isArray(value)) return value.map((one) => withOurNames(one, depth - 1));
  const given = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(
    given.map(([name, one]) => [
      `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`,
      withOurNames(one, depth - 1),
    ]),
  );
}

// In annotations of autoscaling/v1 a metric has other fields than in v2: the name of a field implies the type of the
// target, and object and external metrics always have a value, which is 0 where only the average counts.

type Fields = Readonly<Record<string, unknown>>;

/** A metric of an annotation in the terms of v2; what is none is a metric of an unknown type, which fails alone. */
function metricSpecFromV1(entry: unknown): MetricSpec {
  const { type, source } = parts(entry);
  const spec = source && specOfSource(type, source);
  if (spec && METRIC_SPEC_SCHEMA.safeParse(spec).success) return spec as MetricSpec;
  return { type: TYPES.has(type) ? '' : type } as unknown as MetricSpec;
}

function specOfSource(type: string, source: Fields): object {
  const { targetAverageUtilization, targetValue } = source;
  const averageValue = source.targetAverageValue ?? source.averageValue;
  const target = isGiven(targetAverageUtilization)
    ? { type: 'Utilization', averageUtilization: targetAverageUtilization }
    : isGiven(averageValue)
      ? { type: 'AverageValue', averageValue }
      : { type: 'Value', value: targetValue };
  return { type, [fieldOf(type)]: { ...identityFromV1(type, source), target } };
}

/** The current value of a metric in an annotation, in the form of v2. */
function metricStatusFromV1(entry: unknown): MetricStatus {
  const { type, source } = parts(entry);
  const status = source ? statusOfSource(type, source) : { type };
  return METRIC_STATUS_SCHEMA.safeParse(status).success ? (status as MetricStatus) : FAILED_METRIC_STATUS;
}

function statusOfSource(type: string, source: Fields): object {
  const averageUtilization = source.currentAverageUtilization;
  const averageValue = source.currentAverageValue ?? source.averageValue;
  const current = isGiven(averageValue)
    ? { ...(isGiven(averageUtilization) && { averageUtilization }), averageValue }
    : { value: source.currentValue };
  return { type, [fieldOf(type)]: { ...identityFromV1(type, source), current } };
}

/** The current value of a metric in the form of an annotation. */
function metricStatusToV1(status: MetricStatus): object {
  const { type, resource, containerResource, pods, object, external } = status;
  const inResource = resource ?? containerResource;
  if (inResource) {
    const { current, ...identity } = inResource;
    const { averageUtilization, averageValue } = current;
    const source = {
      ...identity,
      ...(isGiven(averageUtilization) && { currentAverageUtilization: averageUtilization }),
      currentAverageValue: averageValue ?? '0',
    };
    return { type, [fieldOf(type)]: source };
  }
  if (pods) {
    const { name: metricName, selector } = pods.metric;
    const currentAverageValue = pods.current.averageValue ?? '0';
    return { type, pods: { metricName, currentAverageValue, ...(selector && { selector }) } };
  }
  if (object) {
    const { describedObject: target, metric, current } = object;
    const { value: currentValue = '0', averageValue } = current;
    const { name: metricName, selector } = metric;
    const of = { target, metricName, ...(selector && { selector }) };
    return { type, object: { ...of, currentValue, ...(isGiven(averageValue) && { averageValue }) } };
  }
  if (external) {
    const { value: currentValue = '0', averageValue: currentAverageValue } = external.current;
    const { name: metricName, selector: metricSelector } = external.metric;
    const of = { metricName, ...(metricSelector && { metricSelector }) };
    return {
      type,
      external: { ...of, currentValue, ...(isGiven(currentAverageValue) && { currentAverageValue }) },
    };
  }
  return { type };
}

/** The identity of a metric: a resource, a metric of pods, of an object, or an external one. */
function identityFromV1(type: string, source: Fields): object {
  const { name, container, metricName, target } = source;
  if (type === 'Resource') return { name };
  if (type === 'ContainerResource') return { name, container };
  const selector = source.selector ?? source.metricSelector;
  const metric = { name: metricName, ...(isGiven(selector) && { selector }) };
  return type === 'Object' ? { metric, describedObject: target } : { metric };
}

function parts(entry: unknown): { readonly type: string; readonly source: Fields | undefined } {
  if (!isFields(entry) || typeof entry.type !== 'string') return { type: '', source: undefined };
  const { type } = entry;
  const source = TYPES.has(type) ? getOwn(entry, fieldOf(type)) : undefined;
  return { type, source: isFields(source) && isComplete(type, source) ? source : undefined };
}

const TYPES: ReadonlySet<string> = new Set(['Resource', 'ContainerResource', 'Pods', 'Object', 'External']);

/** Whether the metric has an identity; without one it cannot be requested. */
function isComplete(type: string, { name, metricName, target }: Fields): boolean {
  if (type === 'Resource' || type === 'ContainerResource') return typeof name === 'string';
  return typeof metricName === 'string' && (type !== 'Object' || isFields(target));
}

function fieldOf(type: string): string {
  return `${type.slice(0, 1).toLowerCase()}${type.slice(1)}`;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
