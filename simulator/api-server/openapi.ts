import { createHash } from 'node:crypto';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { groupVersion, type ResourceRegistry, type ResourceType } from '../resources/resource-type.ts';
import type { Aggregator } from './aggregator.ts';
import type { ApiRequest } from './api-request.ts';
import { clausesOf, sendJson } from './representation.ts';
import { noSuchPath } from './status.ts';

const INFO = { title: 'Kubernetes', version: 'v1.34.2' };

const V2_PROTOBUF_ASKED = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/**
 * Serves OpenAPI v3 of everything, and v2 of the aggregated groups alone: the clients that request v2 need only these.
 */
export async function serveOpenApi(
  request: ApiRequest,
  { aggregator, registry }: { readonly aggregator: Aggregator; readonly registry: ResourceRegistry },
): Promise<void> {
  const { path, response, style, signal } = request;
  if (path === '/openapi/v2') {
    if (clausesOf(request.raw.headers.accept ?? '').some(({ type }) => type === V2_PROTOBUF_ASKED)) {
      response.setHeader('Content-Type', V2_PROTOBUF);
      response.end(emptyV2());
      return;
    }
    const parts = await aggregator.fetchAll('/openapi/v2', signal);
    const merged = {
      swagger: '2.0',
      info: INFO,
      paths: fieldsOf(parts, 'paths'),
      definitions: fieldsOf(parts, 'definitions'),
    };
    return sendJson(response, 200, merged, style);
  }
  if (path === '/openapi/v3') {
    const parts = await aggregator.fetchAll('/openapi/v3', signal);
    const all = Object.entries(fieldsOf(parts, 'paths'));
    const aggregated = Object.fromEntries(all.filter(([name]) => aggregator.backendFor(`/${name}`)));
    return sendJson(response, 200, { paths: { ...openApiPaths(registry), ...aggregated } }, style);
  }
  const own = groupVersionAt(path.replace('/openapi/v3/', ''));
  const backend = aggregator.backendFor(path.replace('/openapi/v3', ''));
  if (backend) return aggregator.proxy(request, backend, { as: 'system:aggregator' });
  const document = own && openApiDocument(registry, own);
  if (!document || Object.keys(document.paths).length === 0) throw noSuchPath();
  return sendJson(response, 200, document, style);
}

/**
 * An empty `openapi.v2.Document`: kubectl, which requests it for a `v1 List`, validates only kinds that it contains.
 */
function emptyV2(): Uint8Array {
  const text = (writer: BinaryWriter, field: number, value: string) =>
    writer.tag(field, WireType.LengthDelimited).string(value);
  const document = text(new BinaryWriter(), 1, '2.0').tag(2, WireType.LengthDelimited).fork();
  text(document, 1, INFO.title);
  return text(document, 2, INFO.version).join().finish();
}

function fieldsOf(parts: readonly unknown[], field: string): Record<string, unknown> {
  return Object.assign({}, ...parts.map((part) => (part as Record<string, unknown>)[field] ?? {}));
}

type Registry = Pick<ResourceRegistry, 'all'>;

/** The paths of `/openapi/v3`, such as `apis/apps/v1`, and the URL of each. */
function openApiPaths(registry: Registry): Readonly<Record<string, { readonly serverRelativeURL: string }>> {
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

/** The OpenAPI v3 of one group version: a schema for each resource, and the paths that kubectl reads. */
function openApiDocument(registry: Registry, { group, version }: Pick<ResourceType, 'group' | 'version'>) {
  const types = registry.all().filter((type) => type.group === group && type.version === version);
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.34.2' },
    paths: Object.assign({}, ...types.map(pathsOf)) as Readonly<Record<string, unknown>>,
    components: { schemas: Object.fromEntries(types.map((type) => [schemaName(type), schemaOf(type)])) },
  };
}

/** The group version of a path below `/openapi/v3/`. */
function groupVersionAt(path: string): { readonly group: string; readonly version: string } | undefined {
  const [prefix, ...rest] = path.split('/');
  if (prefix === 'api' && rest.length === 1) return { group: '', version: rest[0] ?? '' };
  return prefix === 'apis' && rest.length === 2
    ? { group: rest[0] ?? '', version: rest[1] ?? '' }
    : undefined;
}

function pathOf(type: Pick<ResourceType, 'group' | 'version'>): string {
  return `${type.group ? 'apis' : 'api'}/${groupVersion(type)}`;
}

/** A schema's name as in Kubernetes: the labels of the group in reverse order. */
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

// kubectl leaves the validation of fields to servers that declare these parameters.
const WRITE_PARAMETERS = ['dryRun', 'fieldManager', 'fieldValidation'].map((name) => ({
  name,
  in: 'query',
  schema: { type: 'string', uniqueItems: true },
}));
