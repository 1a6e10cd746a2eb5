import type * as z from 'zod';
import { findWrongField } from './find-wrong-field.ts';
import {
  defaultedSpec,
  type HorizontalPodAutoscaler,
  type HpaSpec,
  type HpaStatus,
} from './horizontal-pod-autoscaler.ts';
import { HPA_SPEC_SCHEMA, HPA_STATUS_SCHEMA } from './hpa-schema.ts';
import { isFields, specFromV1, statusFromV1, statusToV1, withoutV1Annotations } from './hpa-v1.ts';
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
const MAX_NAMESPACE_MIB = 64;
/** Of each part of an HPA beyond that bound. */
const MAX_REDUCED_BYTES = 4 * 1024;
const NO_TARGET = { kind: '', name: '' };

const sizes = new WeakMap<Hpa, number>();

const BUDGET = {
  maxBytes: MAX_NAMESPACE_MIB * 2 ** 20,
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
      omitted: `the HPAs of the namespace together take more than ${MAX_NAMESPACE_MIB} MiB`,
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
