import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { groupVersion, type ResourceRegistry, type ResourceType } from '../resources/resource-type.ts';
import type { Aggregator } from './aggregator.ts';
import type { ApiRequest } from './api-request.ts';
import { sendJson } from './representation.ts';
import { noSuchPath } from './status.ts';

const INFO = { title: 'Kubernetes', version: 'v1.34.2' };

/**
 * Serves OpenAPI v3, which kubectl reads before it applies or explains a kind, and an empty v2: kubectl, which requests
 * it for a `v1 List`, validates only kinds that it contains.
 *
 * @throws ApiError 404
 */
export async function serveOpenApi(
  request: ApiRequest,
  { aggregator, registry }: { readonly aggregator: Aggregator; readonly registry: ResourceRegistry },
): Promise<void> {
  const { path, response } = request;
  if (path === '/openapi/v2') {
    response.setHeader('Content-Type', 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf');
    response.end(emptyV2());
    return;
  }
  const types = Map.groupBy(registry.all(), pathOf);
  if (path === '/openapi/v3') {
    const all = [...types.keys(), ...aggregator.backends().map(pathOf)];
    const urls = all.map((one) => [one, { serverRelativeURL: `/openapi/v3/${one}` }]);
    return sendJson(request, 200, { paths: Object.fromEntries(urls) });
  }
  const backend = aggregator.backendFor(path.replace('/openapi/v3', ''));
  if (backend) return aggregator.proxy(request, backend);
  const own = types.get(path.replace('/openapi/v3/', ''));
  if (!own) throw noSuchPath();
  sendJson(request, 200, openApiDocument(own));
}

/** An empty `openapi.v2.Document`. */
function emptyV2(): Uint8Array {
  const text = (writer: BinaryWriter, field: number, value: string) =>
    writer.tag(field, WireType.LengthDelimited).string(value);
  const document = text(new BinaryWriter(), 1, '2.0').tag(2, WireType.LengthDelimited).fork();
  text(document, 1, INFO.title);
  return text(document, 2, INFO.version).join().finish();
}

/** As `apis/apps/v1`. */
function pathOf(type: Pick<ResourceType, 'group' | 'version'>): string {
  return `${type.group ? 'apis' : 'api'}/${groupVersion(type)}`;
}

/** The schemas of one group version, and the operations that take parameters. */
function openApiDocument(types: readonly ResourceType[]) {
  return {
    openapi: '3.0.0',
    info: INFO,
    paths: Object.fromEntries(types.map((type) => [objectPath(type), { patch: patchOperation(type) }])),
    components: {
      schemas: Object.fromEntries(
        types.map((type) => [
          schemaName(type),
          { ...type.schema, 'x-kubernetes-group-version-kind': [kindOf(type)] },
        ]),
      ),
    },
  };
}

function objectPath(type: ResourceType): string {
  return `/${pathOf(type)}/${type.isNamespaced ? 'namespaces/{namespace}/' : ''}${type.resource}/{name}`;
}

/** kubectl leaves the validation of fields to servers that declare these parameters. */
function patchOperation(type: ResourceType) {
  return {
    'x-kubernetes-action': 'patch',
    'x-kubernetes-group-version-kind': kindOf(type),
    parameters: ['dryRun', 'fieldManager', 'fieldValidation'].map((name) => ({
      ...{ name, in: 'query', schema: { type: 'string' } },
    })),
    responses: { 200: { description: 'OK' } },
  };
}

function kindOf({ group, version, kind }: ResourceType) {
  return { group, version, kind };
}

/** A schema's name as in Kubernetes: the labels of the group in reverse order. */
function schemaName({ group, version, kind, isCustom }: ResourceType): string {
  if (isCustom) return [...group.split('.').reverse(), version, kind].join('.');
  return `io.k8s.api.${group.split('.')[0] || 'core'}.${version}.${kind}`;
}
