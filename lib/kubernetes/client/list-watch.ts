import type { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { runForTenant } from '#lib/concurrency/tenant.ts';
import { parseJson, propertyOf, resourceVersionOf } from '../objects/kubernetes-object.ts';
import type { ApiClient, RequestOptions } from './api-client.ts';
import { apiErrorOf, MalformedResponse, TooLongResponse } from './api-error.ts';
import { latestLines } from './watch-lines.ts';

/** A selection of the API server's objects. */
export interface Collection {
  /** As in `/api/v1/pods`. */
  readonly path: string;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Whether only the objects' metadata is requested. */
  readonly metadataOnly?: boolean;
}

/** One event of a watch. */
export interface WatchEvent {
  /** ADDED, MODIFIED, DELETED or BOOKMARK, or a type of a later Kubernetes. */
  readonly type: string;
  readonly object: unknown;
}

/** The resource's plural name, for logs: `pods`. */
export function resourceOf({ path }: Collection): string {
  return path.split('/').at(-1) ?? '';
}

const PAGE_LIMIT = 500;
/** Any tenant can create objects of 1.5 MiB: 500 of them exceed the maximum response. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;
/** A page that is too long is requested again with this many times fewer objects. */
const PAGE_DIVISOR = 8;

/**
 * Lists a collection page by page, so that at most one page is buffered; large objects come in shorter pages.
 *
 * @returns the resource version of the list
 * @throws an {@link ApiError} that is expired when a page was requested too late
 */
export async function listCollection(
  client: Pick<ApiClient, 'getJson'>,
  collection: Collection,
  { visit, ...options }: RequestOptions & { readonly visit: (object: unknown) => void },
): Promise<string> {
  const accept = acceptOf(collection, 'PartialObjectMetadataList');
  let continueAt: string | undefined;
  let limit = PAGE_LIMIT;
  for (;;) {
    let page: unknown;
    try {
      const path = pathOf(collection, { limit: `${limit}`, continue: continueAt });
      page = await client.getJson(path, { maxResponseBytes: MAX_PAGE_BYTES, ...options, accept });
    } catch (error) {
      if (limit === 1 || !(error instanceof TooLongResponse)) throw error;
      limit = Math.max(1, Math.floor(limit / PAGE_DIVISOR));
      continue;
    }
    limit = Math.min(2 * limit, PAGE_LIMIT);
    const items = propertyOf(page, 'items') ?? []; // Go encodes an empty list as null
    const resourceVersion = resourceVersionOf(page);
    if (!Array.isArray(items) || resourceVersion === undefined) {
      throw new MalformedResponse(`Cannot list ${collection.path}: response is not a list`);
    }
    for (const item of items) visit(item);
    const token = propertyOf(propertyOf(page, 'metadata'), 'continue');
    if (typeof token !== 'string' || token === '') return resourceVersion;
    continueAt = token;
  }
}

/**
 * Watches a collection from a resource version on; returns once the server has begun to respond.
 *
 * @param timeoutSeconds when the server ends the watch
 * @param share where long events are processed one at a time, in turns of namespaces; by default as they arrive
 * @returns the events, until the server ends them, without long changes of objects that have changed again; they throw the {@link ApiError} that the server may send as one
 */
export async function watchCollection(
  client: ApiClient,
  collection: Collection,
  options: RequestOptions & {
    readonly resourceVersion: string;
    readonly timeoutSeconds: number;
    readonly share?: EventLoopShare | undefined;
  },
): Promise<AsyncGenerator<WatchEvent, void, void>> {
  const { resourceVersion, timeoutSeconds, share, ...rest } = options;
  const path = pathOf(collection, {
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion,
    timeoutSeconds: `${timeoutSeconds}`,
  });
  const accept = acceptOf(collection, 'PartialObjectMetadata');
  const leaving = new AbortController();
  const signal = rest.signal ? AbortSignal.any([rest.signal, leaving.signal]) : leaving.signal;
  const lines = await client.streamLines(path, { ...rest, accept, signal });
  const beforeLong = async (namespace: string | undefined) =>
    await runForTenant(namespace, () => share?.next(signal));
  const leave = () => leaving.abort(new Error('the watch has ended'));
  return eventsOf(collection, latestLines(lines, { beforeLong, leave }));
}

async function* eventsOf(
  { path }: Collection,
  lines: AsyncIterable<string>,
): AsyncGenerator<WatchEvent, void, void> {
  for await (const line of lines) {
    const event = parseJson(line);
    const type = propertyOf(event, 'type');
    const object = propertyOf(event, 'object');
    if (typeof type !== 'string') throw new MalformedResponse(`Cannot watch ${path}: invalid event`);
    if (type === 'ERROR') {
      const code = propertyOf(object, 'code');
      const statusCode = typeof code === 'number' ? code : 500;
      throw apiErrorOf(`Cannot watch ${path}`, { statusCode, body: JSON.stringify(object) });
    }
    yield { type, object };
  }
}

function pathOf(collection: Collection, query: Readonly<Record<string, string | undefined>>): string {
  const { path, labelSelector, fieldSelector } = collection;
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries({ labelSelector, fieldSelector, ...query })) {
    if (value) parameters.set(name, value);
  }
  return `${path}?${parameters}`;
}

function acceptOf({ metadataOnly }: Collection, kind: string): string {
  return metadataOnly
    ? `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`
    : 'application/json';
}
