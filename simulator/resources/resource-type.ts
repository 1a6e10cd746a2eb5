import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import type { Schema } from '../schema/schema.ts';
import type { FieldError } from '../schema/validate.ts';
import type { Column } from './columns.ts';

/** One version of a resource that the API server stores or computes: all that requests for it depend on. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  /** Plural, as in paths. */
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly isNamespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Where the store keeps its objects, whatever the version: `pods`, `deployments.apps`. */
  readonly storage: string;
  /** The `apiVersion` that objects have in the store. */
  readonly storedAs: string;
  /** Whether a CustomResourceDefinition has brought it; a few rules differ for these. */
  readonly isCustom: boolean;
  /** Whether `…/status` exists, by which alone the status is written. */
  readonly hasStatus: boolean;
  /** Annotations by which this version shows what of the status it has no field for: they are of the status, not of the rest. */
  readonly statusAnnotations?: readonly string[];
  /** Whether a new object may come with a status all the same. */
  readonly takesInitialStatus: boolean;
  /** Whether the desired state is counted in `metadata.generation`. */
  readonly hasGeneration: boolean;
  readonly scale?: ScaleFields;
  readonly schema: Schema;
  /** What a new object has for a status that comes without one. */
  readonly initialStatus?: Readonly<Record<string, unknown>>;
  /** Whether an update may leave out the version that it was made from. */
  readonly allowsBlindUpdates: boolean;
  /** Whether a PUT of an object that is not there makes it. */
  readonly createsOnUpdate: boolean;
  /** Whether a DELETE is responded to with the object rather than a Status. */
  readonly returnsDeleted: boolean;
  readonly columns?: readonly Column[];
  /** Fills in what a schema's defaults can't tell. */
  complete?(object: KubernetesObject): KubernetesObject;
  /** Rules beyond the schema. */
  check?(object: KubernetesObject, previous: KubernetesObject | undefined): readonly FieldError[];
  /** A stored object in this version. */
  fromStored?(object: KubernetesObject): KubernetesObject;
  /** Whether names may be whatever a path can hold, as those of roles may. */
  readonly takesAnyName?: boolean;
  /** An object of this version as it is stored. */
  toStored?(object: KubernetesObject): KubernetesObject;
}

/** Where an object has what its `…/scale` tells. */
export interface ScaleFields {
  /** `undefined` where the object does not say. */
  replicas(object: KubernetesObject): number | undefined;
  withReplicas(object: KubernetesObject, replicas: number): KubernetesObject;
  statusReplicas(object: KubernetesObject): number;
  /** Of the pods, as text. */
  selector(object: KubernetesObject): string | undefined;
  /** Where the replicas are, for managed fields: `f:spec`, `f:replicas`. */
  readonly replicasPath: readonly string[];
}

/** A resource of some group. */
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

/** `v1` or `group/v1`. */
export function groupVersion({ group, version }: Pick<ResourceType, 'group' | 'version'>): string {
  return group ? `${group}/${version}` : version;
}

/** How messages name a resource: with its group, unless that is the core one. */
export function qualified({ group, resource }: GroupResource): string {
  return group ? `${resource}.${group}` : resource;
}

/** A stored object as requests of one version see it. */
export function presented(object: KubernetesObject, type: ResourceType): KubernetesObject {
  const apiVersion = groupVersion(type);
  if (object.apiVersion === apiVersion && object.kind === type.kind) return object;
  return type.fromStored ? type.fromStored(object) : { ...object, apiVersion, kind: type.kind };
}
