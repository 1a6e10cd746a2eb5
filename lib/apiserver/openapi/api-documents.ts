import { DISCOVERY_SCHEMAS } from '#lib/apiserver/discovery/discovery-types.ts';
import { VERSION_SCHEMAS } from '#lib/apiserver/discovery/version-info.ts';
import type { Schemas } from '#lib/apiserver/encoding/schema.ts';
import type { ApiGroup, ApiVersion } from '#lib/apiserver/resources/api-group.ts';
import { META_SCHEMAS } from './meta-schemas.ts';
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
