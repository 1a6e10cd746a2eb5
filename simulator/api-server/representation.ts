import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import type { Clock } from '#lib/time/clock.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { type Column, rowOf } from '../resources/columns.ts';
import { columnsOf } from '../resources/kinds/columns-by-kind.ts';
import { convertFromStorage, groupVersion, type ResourceType } from '../resources/resource-type.ts';
import type { ApiRequest } from './api-request.ts';
import type { ListPage } from './list.ts';
import { ApiError } from './status.ts';

/** Values of `includeObject`: the part of the object in each row of a Table. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** How objects of one resource are represented for one caller. */
export interface ViewOptions extends Negotiated {
  readonly type: ResourceType;
  readonly includeObject: IncludeObject;
  readonly clock: Clock;
}

/** One stored object as requested: complete, as metadata, or as a Table with one row. */
export function representObject(stored: KubernetesObject, options: ViewOptions): unknown {
  const object = convertFromStorage(stored, options.type);
  switch (options.view) {
    case 'Object':
      return object;
    case 'PartialObjectMetadata':
      return partial(object, options);
    case 'Table':
      return table([object], { resourceVersion: object.metadata.resourceVersion }, options);
  }
}

/** The head of a list, to which the caller adds items (rows, for a Table). */
interface ListView {
  readonly head: Readonly<Record<string, unknown>>;
  readonly itemsField: 'items' | 'rows';
  item(object: KubernetesObject): unknown;
}

/** Lists of custom resources have an empty `continue` at the end; Go omits the empty text in others. */
function continueOf({ continueToken }: ListPage, { type, view }: ViewOptions): { continue?: string } {
  if (continueToken !== undefined) return { continue: continueToken };
  return type.isCustom && view === 'Object' ? { continue: '' } : {};
}

/** A list as requested, in parts, because a complete one may exceed the length of a string. */
export function representList(page: ListPage, options: ViewOptions): ListView {
  const { type, view, viewVersion } = options;
  const metadata = {
    resourceVersion: String(page.resourceVersion),
    ...continueOf(page, options),
    ...(page.remainingItemCount === undefined ? {} : { remainingItemCount: page.remainingItemCount }),
  };
  switch (view) {
    case 'Object':
      return {
        head: { kind: type.listKind, apiVersion: groupVersion(type), metadata },
        itemsField: 'items',
        item: (stored) => {
          const { kind, apiVersion, ...rest } = convertFromStorage(stored, type);
          // Custom resources have their kind in lists, too: decoders cannot add it.
          return type.isCustom ? { apiVersion, kind, ...rest } : rest;
        },
      };
    case 'PartialObjectMetadata':
      return {
        head: { kind: 'PartialObjectMetadataList', apiVersion: `meta.k8s.io/${viewVersion}`, metadata },
        itemsField: 'items',
        item: (object) => partial(object, options),
      };
    case 'Table': {
      const columns = columnsOf(type);
      return {
        head: tableHead(metadata, columns, options),
        itemsField: 'rows',
        item: (stored) => row(convertFromStorage(stored, type), columns, options),
      };
    }
  }
}

/** A bookmark's object, of which only the version has a meaning. */
export function bookmarkObject(resourceVersion: number, options: ViewOptions): unknown {
  const metadata = { resourceVersion: String(resourceVersion) };
  const own = { kind: options.type.kind, apiVersion: groupVersion(options.type), metadata };
  switch (options.view) {
    case 'Object':
      return own;
    case 'PartialObjectMetadata':
      return { ...own, kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${options.viewVersion}` };
    case 'Table':
      return table([], metadata, options);
  }
}

function table(objects: readonly KubernetesObject[], metadata: object, options: ViewOptions) {
  const columns = columnsOf(options.type);
  return {
    ...tableHead(metadata, columns, options),
    rows: objects.map((object) => row(convertFromStorage(object, options.type), columns, options)),
  };
}

function tableHead(metadata: object, columns: readonly Column[], { viewVersion }: ViewOptions) {
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${viewVersion}`,
    metadata,
    columnDefinitions: columns.map(({ name, type, format = '', description, priority }) => ({
      name,
      type,
      format,
      description,
      priority,
    })),
  };
}

function row(object: KubernetesObject, columns: readonly Column[], options: ViewOptions) {
  const cells = rowOf(columns, object, options.clock);
  switch (options.includeObject) {
    case 'None':
      return { cells };
    case 'Metadata':
      return { cells, object: partial(object, options) };
    case 'Object':
      return { cells, object };
  }
}

function partial({ metadata }: KubernetesObject, { viewVersion }: ViewOptions) {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${viewVersion}`, metadata };
}

/** The requested form: as stored, reduced to metadata, or rows for a person. */
type View = 'Object' | 'PartialObjectMetadata' | 'Table';

/** The result of content negotiation. */
interface Negotiated {
  readonly view: View;
  /** `v1` or `v1beta1` of meta.k8s.io; empty unless a view is requested. */
  readonly viewVersion: string;
}

const VIEWS: Readonly<Record<string, View>> = {
  PartialObjectMetadata: 'PartialObjectMetadata',
  PartialObjectMetadataList: 'PartialObjectMetadata',
  Table: 'Table',
};

/**
 * Selects the first clause that the simulator can serve. It serves JSON only, which all Kubernetes clients accept
 * beside protobuf.
 *
 * @throws ApiError 406 when no clause is acceptable
 */
export function negotiate(accept: string | undefined): Negotiated {
  for (const { type, parameters } of clausesOf(accept ?? '*/*')) {
    if (!['application/json', 'application/*', '*/*'].includes(type)) continue;
    const requested = parameters.get('as');
    if (requested === undefined) return { view: 'Object', viewVersion: 'v1' };
    const view = VIEWS[requested];
    const version = parameters.get('v') ?? '';
    if (view && parameters.get('g') === 'meta.k8s.io' && ['v1', 'v1beta1'].includes(version)) {
      return { view, viewVersion: version };
    }
  }
  throw new ApiError(406, 'NotAcceptable', 'only the following media types are accepted: application/json');
}

/** One media range of an Accept header. */
interface AcceptClause {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** The clauses of an Accept header, the most preferred first. */
function clausesOf(accept: string): readonly AcceptClause[] {
  return accept
    .split(',')
    .map((clause) => {
      const [type = '', ...parameters] = clause.split(';').map((part) => part.trim());
      return {
        type: type.toLowerCase(),
        parameters: new Map(parameters.map((pair) => pair.split('=', 2) as [string, string])),
      };
    })
    .sort((left, right) => quality(right) - quality(left));
}

function quality({ parameters }: AcceptClause): number {
  const q = Number(parameters.get('q') ?? 1);
  return Number.isNaN(q) ? 0 : q;
}

// The real server leaves responses below this size uncompressed.
const GZIP_FROM_BYTES = 128 * 1024;

/** Sends a value as JSON. */
export function sendJson(
  { response, acceptsGzip }: Pick<ApiRequest, 'response' | 'acceptsGzip'>,
  status: number,
  value: unknown,
): void {
  const text = Buffer.from(`${JSON.stringify(value)}\n`);
  const isZipped = acceptsGzip && text.length > GZIP_FROM_BYTES;
  const body = isZipped ? gzipSync(text, { level: 1 }) : text;
  if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', 'application/json');
  if (isZipped) response.setHeader('Content-Encoding', 'gzip');
  response.writeHead(status, { 'Content-Length': body.length });
  response.end(body);
}

/** Sends a list in chunks of text, so that the memory does not grow with its length. */
export async function sendPieces(
  { response, acceptsGzip }: ApiRequest,
  pieces: Iterable<string>,
): Promise<void> {
  const chunks = inChunks(pieces);
  const first = chunks.next().value ?? '';
  response.setHeader('Content-Type', 'application/json');
  const rest = (function* () {
    yield first;
    yield* chunks;
  })();
  if (acceptsGzip && first.length >= GZIP_FROM_BYTES) {
    response.setHeader('Content-Encoding', 'gzip');
    await pipeline(Readable.from(rest), createGzip({ level: 1 }), response);
  } else {
    await pipeline(Readable.from(rest), response);
  }
}

function* inChunks(pieces: Iterable<string>): Generator<string, undefined> {
  let chunk = '';
  for (const piece of pieces) {
    chunk += piece;
    if (chunk.length < GZIP_FROM_BYTES) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}
