import { DISCOVERY_SCHEMA } from '#lib/apiserver/discovery/discovery-types.ts';
import { VERSION_SCHEMA } from '#lib/apiserver/discovery/version-info.ts';
import type { JsonObject } from '#lib/apiserver/encoding/json.ts';
import { DOCUMENT_TYPES, LIST_TYPES } from '#lib/apiserver/encoding/media-type.ts';
import { type Parameter, pathParameter, queryParameter } from '#lib/apiserver/encoding/schema.ts';
import type {
  ApiGroup,
  ApiVersion,
  DescribedPath,
  ObjectResource,
  ServedResource,
} from '#lib/apiserver/resources/api-group.ts';

/** A GET of a path, for any version of OpenAPI. */
export interface Operation {
  /** With parameters in braces. */
  readonly path: string;
  readonly id: string;
  readonly tag: string;
  readonly description: string;
  /** Media types of requests; bodies are not read. */
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
  /** Name of the schema of the response. */
  readonly schema: string;
  /** By name. */
  readonly parameters: readonly Parameter[];
  /** Kubernetes' `x-` fields. */
  readonly extensions: JsonObject;
}

/** `/apis/` */
export function groupListOperation(): Operation {
  return discovery({
    path: '/apis/',
    id: 'getAPIVersions',
    tag: 'apis',
    description: 'List the groups of the API.',
    schema: DISCOVERY_SCHEMA.groupList,
  });
}

/** `/apis/GROUP/` */
export function groupOperation({ name }: ApiGroup): Operation {
  return discovery({
    path: `/apis/${name}/`,
    id: `get${capitalized(idOf(name))}APIGroup`,
    tag: idOf(name),
    description: 'List the versions of the group.',
    schema: DISCOVERY_SCHEMA.group,
  });
}

/** `/version/` */
export function versionOperation(): Operation {
  return {
    ...discovery({
      path: '/version/',
      id: 'getCodeVersion',
      tag: 'version',
      description: 'Get the version of the server.',
      schema: VERSION_SCHEMA,
    }),
    consumes: ['application/json'],
    produces: ['application/json'],
  };
}

/** `/apis/GROUP/VERSION/` and everything below it. */
export function versionOperations(group: ApiGroup, version: ApiVersion): readonly Operation[] {
  const scope = { group: group.name, version: version.version };
  const list = discovery({
    path: `/apis/${group.name}/${version.version}/`,
    id: `get${prefixOf(scope)}APIResources`,
    tag: `${idOf(group.name)}_${version.version}`,
    description: 'List the resources of the version.',
    schema: DISCOVERY_SCHEMA.resourceList,
  });
  return [
    list,
    ...version.resources().flatMap((resource) => resourceOperations(resource, scope)),
    ...(version.described ?? []).map((described) => pathOperation(described, scope)),
  ];
}

function pathOperation(
  { path, id: [verb, name], description, schema, parameters }: DescribedPath,
  scope: Scope,
): Operation {
  return {
    path: `${rootOf(scope)}/${path}`,
    id: `${verb}${prefixOf(scope)}${name}`,
    tag: `${idOf(scope.group)}_${scope.version}`,
    description,
    consumes: ['*/*'],
    produces: LIST_TYPES,
    schema,
    parameters: sorted([...LIST_PARAMETERS, PRETTY, ...parameters]),
    extensions: {},
  };
}

interface Scope {
  readonly group: string;
  readonly version: string;
}

function resourceOperations(resource: ServedResource, scope: Scope): readonly Operation[] {
  if (resource.schema === undefined) return [];
  if (resource.type === 'objects') {
    const lists = resource.isNamespaced
      ? [listOperation(resource, scope, 'namespace'), listOperation(resource, scope, 'all')]
      : [listOperation(resource, scope, 'cluster')];
    return [...lists, readOperation(resource, scope, 'read the object')];
  }
  return [readOperation(resource, scope, 'read the document')];
}

function listOperation(
  resource: ObjectResource,
  scope: Scope,
  reach: 'namespace' | 'all' | 'cluster',
): Operation {
  const { kind, name, listSchema = '' } = resource;
  const isInNamespace = reach === 'namespace';
  return {
    path: `${rootOf(scope)}/${isInNamespace ? 'namespaces/{namespace}/' : ''}${name}`,
    id: `list${prefixOf(scope)}${isInNamespace ? 'Namespaced' : ''}${kind}${reach === 'all' ? 'ForAllNamespaces' : ''}`,
    tag: `${idOf(scope.group)}_${scope.version}`,
    description: `List objects of kind ${kind}.`,
    consumes: ['*/*'],
    produces: LIST_TYPES,
    schema: listSchema,
    parameters: sorted([...LIST_PARAMETERS, PRETTY, ...(isInNamespace ? [NAMESPACE] : [])]),
    extensions: extensionsOf('list', kind, scope),
  };
}

function readOperation(resource: ServedResource, scope: Scope, description: string): Operation {
  const { kind, isNamespaced, schema = '' } = resource;
  const [collection = '', subresource] = resource.name.split('/');
  const isNamed = resource.type === 'objects' || subresource !== undefined;
  const path = [
    rootOf(scope),
    ...(isNamespaced ? ['namespaces/{namespace}'] : []),
    collection,
    ...(isNamed ? ['{name}'] : []),
    ...(subresource === undefined ? [] : [subresource]),
  ];
  return {
    path: path.join('/'),
    id: `read${prefixOf(scope)}${isNamespaced ? 'Namespaced' : ''}${kind}${capitalized(subresource ?? '')}`,
    tag: `${idOf(scope.group)}_${scope.version}`,
    description: `${capitalized(description)} of kind ${kind}.`,
    consumes: ['*/*'],
    produces: DOCUMENT_TYPES,
    schema,
    parameters: sorted([
      PRETTY,
      ...(isNamed ? [objectName(kind)] : []),
      ...(isNamespaced ? [NAMESPACE] : []),
    ]),
    extensions: extensionsOf('get', kind, scope),
  };
}

function discovery(operation: Pick<Operation, 'path' | 'id' | 'tag' | 'description' | 'schema'>): Operation {
  return { ...operation, consumes: DOCUMENT_TYPES, produces: DOCUMENT_TYPES, parameters: [], extensions: {} };
}

function extensionsOf(action: string, kind: string, { group, version }: Scope): JsonObject {
  return {
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group, version, kind },
  };
}

function rootOf({ group, version }: Scope): string {
  return `/apis/${group}/${version}`;
}

/** `MetricsV1beta1` */
function prefixOf({ group, version }: Scope): string {
  return capitalized(idOf(group)) + capitalized(version);
}

/** `metrics` for `metrics.k8s.io`, `customMetrics` for `custom.metrics.k8s.io` */
function idOf(group: string): string {
  const [first = '', ...rest] = group.replace(/\.k8s\.io$/, '').split('.');
  return first + rest.map(capitalized).join('');
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function sorted(parameters: readonly Parameter[]): readonly Parameter[] {
  return parameters.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

const PRETTY = queryParameter(
  'pretty',
  'string',
  'Whether JSON is indented. By default, only for curl, wget and browsers.',
);

export const NAMESPACE = pathParameter('namespace', 'The namespace of the objects.');

function objectName(kind: string): Parameter {
  return pathParameter('name', `The name of the ${kind}.`);
}

/** Parameters of a list, besides {@link PRETTY}. */
const LIST_PARAMETERS: readonly Parameter[] = [
  queryParameter(
    'allowWatchBookmarks',
    'boolean',
    'Whether a watch also sends events of type BOOKMARK, which have only a resource version.',
  ),
  queryParameter('continue', 'string', 'The token of the page: metadata.continue of the previous page.'),
  queryParameter('fieldSelector', 'string', 'Selects objects by metadata.name and metadata.namespace.'),
  queryParameter('labelSelector', 'string', 'Selects objects by their labels.'),
  queryParameter(
    'limit',
    'integer',
    'Maximum number of objects of a page. By default, one page has all objects.',
  ),
  queryParameter(
    'resourceVersion',
    'string',
    'Accepted for compatibility. The server always returns the latest version.',
  ),
  queryParameter('resourceVersionMatch', 'string', 'Accepted for compatibility: Exact or NotOlderThan.'),
  queryParameter(
    'sendInitialEvents',
    'boolean',
    'Whether a watch begins with all existing objects, followed by a bookmark.',
  ),
  queryParameter('timeoutSeconds', 'integer', 'Seconds after which a watch ends.'),
  queryParameter('watch', 'boolean', 'Whether to watch the objects: changes are streamed as events.'),
];
