import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import type { Column } from './columns.ts';
import type { Schema } from './schema.ts';
import type { FieldError } from './validate.ts';

/**
 * One version of a resource that the API server stores or computes, with everything on which requests for it depend.
 */
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
  /** The storage of its objects in all versions: `pods`, `deployments.apps`. */
  readonly storage: string;
  /** The `apiVersion` of stored objects. */
  readonly storageVersion: string;
  /** Whether it is defined by a CustomResourceDefinition, for which some rules differ. */
  readonly isCustom: boolean;
  /** Whether it has the subresource `status`, by which alone the status is written. */
  readonly hasStatus: boolean;
  /** Annotations that represent fields of the status which this version does not have; they belong to the status. */
  readonly statusAnnotations?: readonly string[];
  /** Whether a new object may have a status. */
  readonly takesInitialStatus: boolean;
  /** Whether `metadata.generation` counts changes of the desired state. */
  readonly hasGeneration: boolean;
  readonly scale?: ScaleFields;
  readonly schema: Schema;
  /** The status of a new object without one. */
  readonly initialStatus?: Readonly<Record<string, unknown>>;
  /** Whether an update may omit the version from which it was made. */
  readonly allowsUnconditionalUpdate: boolean;
  /** Whether the response to a DELETE is the object rather than a Status. */
  readonly returnsDeletedObject: boolean;
  readonly columns?: readonly Column[];
  /** Sets defaults that the schema cannot express. */
  applyDefaults?(object: KubernetesObject): KubernetesObject;
  /** Validates rules that the schema cannot express. */
  validate?(object: KubernetesObject, previous: KubernetesObject | undefined): readonly FieldError[];
  /** Converts a stored object to this version. */
  fromStored?(object: KubernetesObject): KubernetesObject;
  /** Whether names may be any path segment, as those of roles. */
  readonly allowsPathSegmentNames?: boolean;
  /** Converts an object of this version to the stored one. */
  toStored?(object: KubernetesObject): KubernetesObject;
}

/** The fields of an object that its subresource `scale` represents. */
export interface ScaleFields {
  /** `undefined` when the object does not set it. */
  replicas(object: KubernetesObject): number | undefined;
  withReplicas(object: KubernetesObject, replicas: number): KubernetesObject;
  statusReplicas(object: KubernetesObject): number;
  /** The selector of the pods, as text. */
  selector(object: KubernetesObject): string | undefined;
  /** The path of the replicas in managed fields: `f:spec`, `f:replicas`. */
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

/** The name of a resource in messages: with its group, except for the core group. */
export function qualified({ group, resource }: GroupResource): string {
  return group ? `${resource}.${group}` : resource;
}

/** Converts a stored object to the version of a request. */
export function convertFromStorage(object: KubernetesObject, type: ResourceType): KubernetesObject {
  const apiVersion = groupVersion(type);
  if (object.apiVersion === apiVersion && object.kind === type.kind) return object;
  return type.fromStored ? type.fromStored(object) : { ...object, apiVersion, kind: type.kind };
}

/** The types that the API server serves itself: built-in ones and those of CustomResourceDefinitions. */
export class ResourceRegistry {
  readonly #builtIn: readonly ResourceType[];
  readonly #custom = new Map<string, readonly ResourceType[]>();

  constructor(builtIn: readonly ResourceType[]) {
    this.#builtIn = builtIn;
  }

  /** In the order of discovery. */
  all(): readonly ResourceType[] {
    return [...this.#builtIn, ...[...this.#custom.values()].flat()];
  }

  /** @returns `undefined` when this server has no such resource */
  find(group: string, version: string, resource: string): ResourceType | undefined {
    const isMeant = (type: ResourceType) =>
      type.resource === resource && type.group === group && type.version === version;
    return this.#builtIn.find(isMeant) ?? this.#custom.get(`${resource}.${group}`)?.find(isMeant);
  }

  /** The resource of a kind in any version of the group of an `apiVersion`. */
  ofApiVersion(apiVersion: string, kind: string): ResourceType | undefined {
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
    return this.all().find((type) => type.group === group && type.kind === kind);
  }

  /** The stored resources, one version of each. */
  stored(): readonly ResourceType[] {
    const types = this.all().filter(({ verbs }) => verbs.includes('list'));
    return [...new Map(types.map((type) => [type.storage, type])).values()];
  }

  /** Replaces the types of a custom resource; an empty list removes it. */
  setCustom(storage: string, types: readonly ResourceType[]): void {
    if (types.length === 0) this.#custom.delete(storage);
    else this.#custom.set(storage, types);
  }
}

const VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

/** Orders versions as Kubernetes does, the preferred first: v2, v1, v1beta2, v1beta1, v1alpha1, then all others. */
export function compareVersions(left: string, right: string): number {
  const ranks = [rankOf(left), rankOf(right)] as const;
  for (const [index, rank] of ranks[0].entries()) {
    const difference = (ranks[1][index] ?? 0) - rank;
    if (difference !== 0) return difference;
  }
  return left < right ? -1 : left > right ? 1 : 0;
}

function rankOf(version: string): readonly number[] {
  const [, major, stability, minor] = VERSION.exec(version) ?? [];
  if (major === undefined) return [-1, 0, 0];
  return [stability === undefined ? 2 : stability === 'beta' ? 1 : 0, Number(major), Number(minor ?? 0)];
}
