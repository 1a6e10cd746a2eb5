import type { Conversion, Restrictions } from '#lib/apiserver/encoding/media-type.ts';

const META_GROUP = 'meta.k8s.io';
const META_VERSIONS = ['v1', 'v1beta1'];
const CONVERSIONS = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'] as const;

/** A kind of `meta.k8s.io` that a client may ask for instead of the resource's own. */
export interface MetaConversion {
  readonly kind: (typeof CONVERSIONS)[number];
  /** `meta.k8s.io/v1` or `meta.k8s.io/v1beta1` */
  readonly apiVersion: string;
}

/** What get and list of objects may be asked for; a Table cannot be written in protobuf. */
export const OBJECT_RESTRICTIONS: Restrictions = {
  allowsConversion: (format, conversion) =>
    !conversion ||
    (toMetaConversion(conversion)?.kind === 'Table' ? format !== 'protobuf' : isMeta(conversion)),
  allowsServerVersion: (version) => version === 'v1',
};

/** @returns `undefined` for what no object can be converted to */
export function toMetaConversion({ group, version, kind }: Conversion): MetaConversion | undefined {
  const known = CONVERSIONS.find((one) => one === kind);
  if (!known || group !== META_GROUP || !META_VERSIONS.includes(version)) return undefined;
  return { kind: known, apiVersion: `${group}/${version}` };
}

function isMeta(conversion: Conversion): boolean {
  return toMetaConversion(conversion) !== undefined;
}

/** Which group and version a resource is served in. */
export interface ResourceIdentity {
  readonly group: string;
  readonly version: string;
}

/** How Kubernetes' servers call a type in messages: by the Go package that is named for the group. */
export function goTypeName(group: string, kind: string): string {
  return `*${group.split('.')[0]}.${kind}`;
}
