import { createHash } from 'node:crypto';
import type { ResourceRegistry } from '../../resources/resource-registry.ts';
import { groupVersion, type ResourceType } from '../../resources/resource-type.ts';

type Registry = Pick<ResourceRegistry, 'all'>;

/** `apis/apps/v1` and so on, as `/openapi/v3` lists them, with where each is. */
export function openApiPaths(
  registry: Registry,
): Readonly<Record<string, { readonly serverRelativeURL: string }>> {
  const groups = new Map(registry.all().map((type) => [pathOf(type), type]));
  return Object.fromEntries(
    [...groups].map(([path, type]) => {
      const hash = createHash('sha512')
        .update(JSON.stringify(openApiDocument(registry, type)))
        .digest('hex')
        .toUpperCase();
      return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }];
    }),
  );
}

/** The OpenAPI v3 of one group version: for each resource a schema, and paths as far as kubectl looks at them. */
export function openApiDocument(
  registry: Registry,
  { group, version }: Pick<ResourceType, 'group' | 'version'>,
) {
  const types = registry.all().filter((type) => type.group === group && type.version === version);
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.34.2' },
    paths: Object.assign({}, ...types.map(pathsOf)) as Readonly<Record<string, unknown>>,
    components: { schemas: Object.fromEntries(types.map((type) => [schemaName(type), schemaOf(type)])) },
  };
}

/** The group version whose document a path below `/openapi/v3/` is of. */
export function groupVersionAt(
  path: string,
): { readonly group: string; readonly version: string } | undefined {
  const [prefix, ...rest] = path.split('/');
  if (prefix === 'api' && rest.length === 1) return { group: '', version: rest[0] ?? '' };
  return prefix === 'apis' && rest.length === 2
    ? { group: rest[0] ?? '', version: rest[1] ?? '' }
    : undefined;
}

function pathOf(type: Pick<ResourceType, 'group' | 'version'>): string {
  return `${type.group ? 'apis' : 'api'}/${groupVersion(type)}`;
}

/** As Kubernetes names them: the group's labels back to front. */
function schemaName({ group, version, kind, isCustom }: ResourceType): string {
  if (isCustom) return [...group.split('.').reverse(), version, kind].join('.');
  return `io.k8s.api.${group.split('.')[0] || 'core'}.${version}.${kind}`;
}

function schemaOf(type: ResourceType) {
  const { group, version, kind } = type;
  return { ...type.schema, 'x-kubernetes-group-version-kind': [{ group, version, kind }] };
}

function pathsOf(type: ResourceType): Readonly<Record<string, unknown>> {
  const { group, version, kind, resource, isNamespaced, verbs } = type;
  const gvk = { group, version, kind };
  const schema = { $ref: `#/components/schemas/${schemaName(type)}` };
  const operation = (action: string, isWriting: boolean) => ({
    description: `${action} ${kind}`,
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': gvk,
    ...(isWriting ? { parameters: WRITE_PARAMETERS } : {}),
    responses: { 200: { description: 'OK', content: { 'application/json': { schema } } } },
  });
  const collection = `/${pathOf(type)}/${isNamespaced ? 'namespaces/{namespace}/' : ''}${resource}`;
  const has = (verb: string, entry: object) => (verbs.includes(verb) ? entry : {});
  return {
    [collection]: {
      ...has('list', { get: operation('list', false) }),
      ...has('create', { post: operation('post', true) }),
    },
    [`${collection}/{name}`]: {
      ...has('get', { get: operation('get', false) }),
      ...has('update', { put: operation('put', true) }),
      ...has('patch', { patch: operation('patch', true) }),
      ...has('delete', { delete: operation('delete', false) }),
    },
  };
}

// By these kubectl knows that the server checks fields itself.
const WRITE_PARAMETERS = ['dryRun', 'fieldManager', 'fieldValidation'].map((name) => ({
  name,
  in: 'query',
  schema: { type: 'string', uniqueItems: true },
}));
