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

/** Everything that the API server serves itself, which CustomResourceDefinitions add to. */
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

  /** @returns `undefined` when no such resource is served here */
  find(group: string, version: string, resource: string): ResourceType | undefined {
    const isMeant = (type: ResourceType) =>
      type.resource === resource && type.group === group && type.version === version;
    return this.#builtIn.find(isMeant) ?? this.#custom.get(`${resource}.${group}`)?.find(isMeant);
  }

  /** Some resource of a kind, whatever its version. */
  ofKind(group: string, kind: string): ResourceType | undefined {
    return this.all().find((type) => type.group === group && type.kind === kind);
  }

  /** Everything that is kept in the store, one version each. */
  stored(): readonly ResourceType[] {
    const types = this.all().filter(({ verbs }) => verbs.includes('list'));
    return [...new Map(types.map((type) => [type.storage, type])).values()];
  }

  /** Serves a custom resource from now on, in place of what was served for it; none takes it away. */
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
