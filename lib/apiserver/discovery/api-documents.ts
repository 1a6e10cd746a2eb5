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

/** What one OpenAPI 3 document is about: everything directly at one path of discovery. */
export interface ApiDocument {
  /** Where it is served below `/openapi/v3/`: `apis/metrics.k8s.io/v1beta1`. */
  readonly name: string;
  readonly operations: readonly Operation[];
  /** All that it could refer to. */
  readonly schemas: Schemas;
}

/** The documents about everything that a server has, by name. */
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

/** What every kind of Kubernetes is made of, with its every field, whether or not it is served here. */
export const META_SCHEMAS: Schemas = {
  [META_SCHEMA.quantity]: {
    description:
      'An amount: a decimal number with a decimal suffix (n, u, m, k, M, G, T, P, E), a binary one (Ki, Mi, Gi, Ti, Pi, Ei) ' +
      'or an exponent. Written here with the largest suffix that leaves a whole number.',
    oneOf: [{ type: 'string' }, { type: 'number' }],
  },
  [META_SCHEMA.duration]: {
    description: 'A length of time: numbers with units (h, m, s, ms, us, ns), as in 1m30s or 14.997s.',
    type: 'string',
  },
  [META_SCHEMA.time]: {
    description: 'A moment in UTC, in whole seconds, as RFC 3339 writes it.',
    type: 'string',
    format: 'date-time',
  },
  [META_SCHEMA.fields]: { description: 'A set of fields, as a tree of their names.', type: 'object' },
  ...LIST_META.definition,
  [META_SCHEMA.managedFields]: objectOf('Which fields a manager of an object has set.', {
    properties: {
      apiVersion: text('The version of the API that the fields are named in.'),
      fieldsType: text('How the fields are told: always FieldsV1.'),
      fieldsV1: reference(META_SCHEMA.fields, 'The fields that the manager has set.'),
      manager: text('Who manages the fields.'),
      operation: text('How the fields were set: Apply or Update.'),
      subresource: text('Through which subresource the fields were set; empty for the object itself.'),
      time: reference(META_SCHEMA.time, 'When the manager last changed which fields it has set.'),
    },
  }),
  [META_SCHEMA.ownerReference]: objectOf('An object that another one belongs to and goes away with.', {
    required: ['apiVersion', 'kind', 'name', 'uid'],
    properties: {
      apiVersion: text('The API group and version of the owner.'),
      blockOwnerDeletion: flag(
        'Whether the owner stays until this object is gone, when it is deleted in the foreground.',
      ),
      controller: flag('Whether the owner controls this object; at most one does.'),
      kind: text('What the owner is.'),
      name: text('The name of the owner.'),
      uid: text('The UID of the owner.'),
    },
    extensions: { 'x-kubernetes-map-type': 'atomic' },
  }),
  ...OBJECT_META.definition,
};

/**
 * The schemas of the given names, and those that they refer to, and so on; sorted by name.
 *
 * @throws when one refers to a schema that there is not: the description of a resource is incomplete
 */
export function referredSchemas(names: Iterable<string>, schemas: Schemas): Schemas {
  const found = new Set<string>();
  const pending = [...names];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (found.has(name)) continue;
    const schema = getOwn(schemas, name);
    if (!schema) throw new Error(`Cannot describe the API: there is no schema ${name}`);
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
