import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import type { Clock } from '#lib/time/clock.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { type Column, rowOf } from '../resources/columns.ts';
import { columnsOf } from '../resources/kinds/columns-by-kind.ts';
import { groupVersion, presented, type ResourceType } from '../resources/resource-type.ts';
import type { ResponseStyle } from './api-request.ts';
import type { ListPage } from './list.ts';
import { ApiError } from './status.ts';

/** What `includeObject` may ask to have with each row of a Table. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** How objects of one resource are shown to one caller. */
export interface ViewOptions extends Negotiated {
  readonly type: ResourceType;
  readonly includeObject: IncludeObject;
  readonly clock: Clock;
}

/** One stored object as asked for: itself, its metadata, or a Table of one row. */
export function viewOfObject(stored: KubernetesObject, options: ViewOptions): unknown {
  const object = presented(stored, options.type);
  switch (options.view) {
    case 'Object':
      return object;
    case 'PartialObjectMetadata':
      return partial(object, options);
    case 'Table':
      return table([object], { resourceVersion: object.metadata.resourceVersion }, options);
  }
}

/** The head of a list, to which the caller adds items (rows, for a Table) one by one. */
interface ListView {
  readonly head: Readonly<Record<string, unknown>>;
  readonly itemsField: 'items' | 'rows';
  item(object: KubernetesObject): unknown;
}

/** Lists of custom resources tell that there is no more; Go leaves out the empty text of others. */
function continueOf({ continueToken }: ListPage, { type, view }: ViewOptions): { continue?: string } {
  if (continueToken !== undefined) return { continue: continueToken };
  return type.isCustom && view === 'Object' ? { continue: '' } : {};
}

/** A list as asked for, in parts, because a whole one may not fit into a string. */
export function viewOfList(page: ListPage, options: ViewOptions): ListView {
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
          const { kind, apiVersion, ...rest } = presented(stored, type);
          // Custom resources are told with their kind, which no decoder can add.
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
        item: (stored) => row(presented(stored, type), columns, options),
      };
    }
  }
}

/** A bookmark's object: nothing of it but its version means anything. */
export function bookmarkObject(
  resourceVersion: number,
  options: ViewOptions,
  annotations?: Readonly<Record<string, string>>,
): unknown {
  const metadata = { resourceVersion: String(resourceVersion), ...(annotations ? { annotations } : {}) };
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
    rows: objects.map((object) => row(presented(object, options.type), columns, options)),
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

/** The form in which a response is wanted: as stored, reduced to metadata, or as rows for a person. */
type View = 'Object' | 'PartialObjectMetadata' | 'Table';

/** What an Accept header comes down to. */
interface Negotiated {
  readonly view: View;
  /** `v1` or `v1beta1` of meta.k8s.io; only where a view was asked for. */
  readonly viewVersion: string;
}

const VIEWS: Readonly<Record<string, View>> = {
  PartialObjectMetadata: 'PartialObjectMetadata',
  PartialObjectMetadataList: 'PartialObjectMetadata',
  Table: 'Table',
};

/**
 * Picks the first clause that the simulator can serve; it speaks JSON alone, which every client of Kubernetes
 * takes besides protobuf.
 *
 * @throws ApiError 406 when no clause will do
 */
export function negotiate(accept: string | undefined): Negotiated {
  for (const { type, parameters } of clausesOf(accept ?? '*/*')) {
    if (!['application/json', 'application/*', '*/*'].includes(type)) continue;
    const asked = parameters.get('as');
    if (asked === undefined) return { view: 'Object', viewVersion: 'v1' };
    const view = VIEWS[asked];
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

/** The clauses of an Accept header, the most wanted first. */
export function clausesOf(accept: string): readonly AcceptClause[] {
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
  response: ServerResponse,
  status: number,
  value: unknown,
  { isPretty, acceptsGzip }: ResponseStyle,
): void {
  const text = Buffer.from(isPretty ? JSON.stringify(value, null, 2) : `${JSON.stringify(value)}\n`);
  const isZipped = acceptsGzip && text.length > GZIP_FROM_BYTES;
  const body = isZipped ? gzipSync(text, { level: 1 }) : text;
  if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', 'application/json');
  if (isZipped) response.setHeader('Content-Encoding', 'gzip');
  response.writeHead(status, { 'Content-Length': body.length });
  response.end(body);
}

/** Sends a list in pieces of text, so that the largest one costs no more memory than a few of them. */
export async function sendPieces(
  response: ServerResponse,
  pieces: Iterable<string>,
  { acceptsGzip }: ResponseStyle,
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
