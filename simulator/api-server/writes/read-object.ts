import { parse as parseYaml } from 'yaml';
import type { KubernetesObject } from '../../objects/kubernetes-object.ts';
import { generatedName } from '../../random.ts';
import { groupVersion, type ResourceType } from '../../resources/resource-type.ts';
import { isRecord } from '../../resources/schema.ts';
import { invalidValue, requiredValue } from '../../resources/validate.ts';
import { type ApiRequest, readBody } from '../api-request.ts';
import { ApiError, badRequest, invalidObject, notFound } from '../status.ts';
import type { ObjectWrite } from './object-write.ts';
import { readProtobuf } from './protobuf-body.ts';

/** The media type of a body, without its parameters. */
export function mediaTypeOf({ raw }: ApiRequest): string {
  const [type = ''] = String(raw.headers['content-type'] ?? '').split(';');
  return type.trim().toLowerCase();
}

/**
 * Parses a body as JSON, YAML or protobuf, by its media type.
 *
 * @throws ApiError 400 for an invalid body, 415 for CBOR, and for protobuf that kubectl does not send
 */
export async function readStructured(request: ApiRequest): Promise<unknown> {
  const type = mediaTypeOf(request);
  if (type.includes('cbor')) throw unsupportedMediaType();
  const bytes = await readBody(request);
  if (type.includes('protobuf')) {
    const object = readProtobuf(bytes);
    if (object === undefined) throw unsupportedMediaType();
    return object;
  }
  const body = bytes.toString();
  try {
    // JSON is YAML, too, but much faster to read.
    return type.endsWith('yaml') && !/^\s*[{[]/.test(body)
      ? parseYaml(body, { maxAliasCount: 0 })
      : JSON.parse(body);
  } catch (error) {
    throw badRequest(
      `the object provided is unrecognized: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function unsupportedMediaType(): ApiError {
  return new ApiError(
    415,
    'UnsupportedMediaType',
    'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml',
    {},
  );
}

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/**
 * Reads an object of the request's type from a body, and completes its identity from the path.
 *
 * @throws ApiError 400 when kind, name or namespace differ from the path, 422 for an invalid name
 */
export function asObject(body: unknown, { target, type, request }: ObjectWrite): KubernetesObject {
  if (!isRecord(body)) throw badRequest('the object provided is unrecognized: it is no object');
  requireKind(body, { target, type });
  const metadata = body.metadata ?? {};
  if (!isRecord(metadata))
    throw badRequest(`cannot unmarshal ${typeof metadata} into Go struct field .metadata`);
  for (const field of ['name', 'generateName', 'namespace', 'uid', 'resourceVersion'])
    if (!['string', 'undefined'].includes(typeof metadata[field]) && metadata[field] !== null)
      throw badRequest(
        `json: cannot unmarshal ${typeof metadata[field]} into Go struct field ObjectMeta.metadata.${field} of type string`,
      );
  const isCreating = request.verb === 'create';
  const name =
    String(metadata.name || (isCreating ? '' : target.name) || '') || generated(metadata.generateName);
  if (name === '')
    throw invalidObject(type, '', [requiredValue('metadata.name', 'name or generateName is required')]);
  if (target.name !== undefined && target.name !== name)
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${target.name})`);
  const problem = isCreating ? nameProblem(name, type) : undefined;
  if (problem !== undefined) throw invalidObject(type, name, [invalidValue('metadata.name', name, problem)]);
  const namespace = namespaceOf(metadata, { target, type });
  return {
    ...body,
    kind: type.kind,
    apiVersion: groupVersion(type),
    metadata: { ...metadata, name, ...namespace },
  } as KubernetesObject;
}

function nameProblem(name: string, { allowsPathSegmentNames = false }: ResourceType): string | undefined {
  if (!allowsPathSegmentNames) return NAME.test(name) ? undefined : NAME_RULE;
  if (name === '.' || name === '..') return `may not be '${name}'`;
  const refused = ['/', '%'].find((character) => name.includes(character));
  return refused && `may not contain '${refused}'`;
}

const NAME_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

function requireKind(
  body: Readonly<Record<string, unknown>>,
  { type }: Pick<ObjectWrite, 'target' | 'type'>,
): void {
  const { kind, apiVersion } = body;
  if (type.isCustom && (typeof kind !== 'string' || kind === ''))
    throw badRequest(`Object 'Kind' is missing in '${JSON.stringify(body).slice(0, 200)}'`);
  const expected = groupVersion(type);
  const isMeant =
    (kind === undefined || kind === type.kind) && (apiVersion === undefined || apiVersion === expected);
  if (isMeant) return;
  throw badRequest(
    type.isCustom || kind === type.kind
      ? `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`
      : `${kind} in version "${String(apiVersion).split('/').at(-1)}" cannot be handled as a ${type.kind}: no kind "${kind}" is registered for this resource`,
  );
}

function namespaceOf(
  metadata: Readonly<Record<string, unknown>>,
  { target, type }: Pick<ObjectWrite, 'target' | 'type'>,
): { readonly namespace?: string } {
  if (!type.isNamespaced) return {};
  const namespace = target.namespace ?? String(metadata.namespace || 'default');
  if (metadata.namespace && metadata.namespace !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  return { namespace };
}

function generated(prefix: unknown): string {
  return typeof prefix === 'string' && prefix !== '' ? generatedName(prefix) : '';
}

/** @throws ApiError 404 when the namespace of a new object does not exist */
export function requireNamespace({ metadata }: KubernetesObject, { context }: ObjectWrite): void {
  const { namespace } = metadata;
  if (namespace !== undefined && !context.store.get('namespaces', undefined, namespace))
    throw notFound({ group: '', resource: 'namespaces' }, namespace);
}
