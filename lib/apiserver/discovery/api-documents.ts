import { DISCOVERY_SCHEMAS } from '#lib/apiserver/discovery/discovery-types.ts';
import { VERSION_SCHEMAS } from '#lib/apiserver/discovery/version-info.ts';
import type { JsonValue } from '#lib/apiserver/encoding/json.ts';
import { LIST_META, OBJECT_META } from '#lib/apiserver/encoding/object-meta.ts';
import {
  flag,
  META_SCHEMA,
  objectOf,
  reference,
  SCHEMAS_PATH,
  type Schemas,
  text,
} from '#lib/apiserver/encoding/schema.ts';
import type { ApiGroup, ApiVersion } from '#lib/apiserver/resources/api-group.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import {
  groupListOperation,
  groupOperation,
  type Operation,
  versionOperation,
  versionOperations,
} from './operations.ts';

/** Contents of one OpenAPI 3 document: all that is directly at one path of discovery. */
export interface ApiDocument {
  /** Its path below `/openapi/v3/`: `apis/metrics.k8s.io/v1beta1`. */
  readonly name: string;
  readonly operations: readonly Operation[];
  /** All schemas that it could refer to. */
  readonly schemas: Schemas;
}

/** Documents of all groups, by name. */
export function apiDocuments(groups: readonly ApiGroup[]): readonly ApiDocument[] {
  const schemas = DISCOVERY_SCHEMAS;
  return [
    { name: 'apis', operations: [groupListOperation()], schemas },
    ...groups.flatMap((group) => [
      { name: `apis/${group.name}`, operations: [groupOperation(group)], schemas },
      ...group.versions.map((version) => versionDocument(group, version)),
    ]),
    { name: 'version', operations: [versionOperation()], schemas: VERSION_SCHEMAS },
  ];
}

function versionDocument(group: ApiGroup, version: ApiVersion): ApiDocument {
  return {
    name: `apis/${group.name}/${version.version}`,
    operations: versionOperations(group, version),
    schemas: { ...DISCOVERY_SCHEMAS, ...META_SCHEMAS, ...version.schemas },
  };
}

/** The types that every kind of Kubernetes uses, with every field, whether or not it is served here. */
export const META_SCHEMAS: Schemas = {
  [META_SCHEMA.quantity]: {
    description:
      'A quantity: a decimal number with a decimal suffix (n, u, m, k, M, G, T, P, E), a binary one (Ki, Mi, Gi, Ti, Pi, Ei) ' +
      'or an exponent. The canonical form has the largest suffix that leaves an integer.',
    oneOf: [{ type: 'string' }, { type: 'number' }],
  },
  [META_SCHEMA.duration]: {
    description: 'A duration: numbers with units (h, m, s, ms, us, ns), as in 1m30s or 14.997s.',
    type: 'string',
  },
  [META_SCHEMA.time]: {
    description: 'A time in UTC, in whole seconds, in RFC 3339 format.',
    type: 'string',
    format: 'date-time',
  },
  [META_SCHEMA.fields]: { description: 'A set of fields, as a tree of their names.', type: 'object' },
  ...LIST_META.definition,
  [META_SCHEMA.managedFields]: objectOf('The fields that one manager of an object has set.', {
    properties: {
      apiVersion: text('The API version of the field names.'),
      fieldsType: text('The format of the fields: always FieldsV1.'),
      fieldsV1: reference(META_SCHEMA.fields, 'The fields that the manager has set.'),
      manager: text('The name of the manager.'),
      operation: text('How the fields were set: Apply or Update.'),
      subresource: text('The subresource that the fields were set through; empty for the object itself.'),
      time: reference(META_SCHEMA.time, 'When the manager last added, changed or removed one of its fields.'),
    },
  }),
  [META_SCHEMA.ownerReference]: objectOf('An owner of the object. The object is deleted with its owner.', {
    required: ['apiVersion', 'kind', 'name', 'uid'],
    properties: {
      apiVersion: text('The API group and version of the owner.'),
      blockOwnerDeletion: flag(
        'Whether foreground deletion of the owner waits until this object is removed.',
      ),
      controller: flag('Whether the owner is the controller of this object; at most one is.'),
      kind: text('The kind of the owner.'),
      name: text('The name of the owner.'),
      uid: text('The UID of the owner.'),
    },
    extensions: { 'x-kubernetes-map-type': 'atomic' },
  }),
  ...OBJECT_META.definition,
};

/**
 * The schemas of the given names and all that they refer to, sorted by name.
 *
 * @throws when one refers to a missing schema: the description of a resource is incomplete
 */
export function referredSchemas(names: Iterable<string>, schemas: Schemas): Schemas {
  const found = new Set<string>();
  const pending = [...names];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (found.has(name)) continue;
    const schema = getOwn(schemas, name);
    if (!schema) throw new Error(`Cannot describe the API: schema ${name} not found`);
    found.add(name);
    pending.push(...referencesIn(schema));
  }
  return Object.fromEntries([...found].sort().map((name) => [name, getOwn(schemas, name) ?? {}]));
}

function referencesIn(value: JsonValue): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner.slice(SCHEMAS_PATH.length)] : referencesIn(inner),
  );
}
