import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { ResourceRegistry } from '../../resources/resource-registry.ts';
import type { Aggregator } from '../aggregation/aggregator.ts';
import type { ApiRequest } from '../api-request.ts';
import { clausesOf } from '../negotiation.ts';
import { sendJson } from '../respond.ts';
import { noSuchPath } from '../status.ts';
import { groupVersionAt, openApiDocument, openApiPaths } from './openapi-document.ts';

const INFO = { title: 'Kubernetes', version: 'v1.34.2' };

const V2_PROTOBUF_ASKED = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/** Serves OpenAPI v3 of everything, and v2 of the aggregated groups alone: a client that asks for v2 today asks for these. */
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
    const parts = await aggregator.askAll('/openapi/v2', signal);
    const merged = {
      swagger: '2.0',
      info: INFO,
      paths: fieldsOf(parts, 'paths'),
      definitions: fieldsOf(parts, 'definitions'),
    };
    return sendJson(response, 200, merged, style);
  }
  if (path === '/openapi/v3') {
    const parts = await aggregator.askAll('/openapi/v3', signal);
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

/** A `openapi.v2.Document` that describes nothing: kubectl, which asks for it of a `v1 List`, checks no kind that it does not find. */
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
