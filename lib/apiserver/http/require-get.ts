import { remembering } from '#lib/cache/memoize.ts';
import type { ApiContext, Middleware } from './api-context.ts';
import { methodNotAllowed, notProducible, unsupportedMediaType } from './status-error.ts';

/** The media types of a route. */
export interface RouteMediaTypes {
  readonly produces: readonly string[];
  /** Of bodies, though none is read; by default the same. */
  readonly consumes?: readonly string[];
}

/**
 * @throws {StatusError} in go-restful's order: 405 for other methods, 415 for a body that is said to be of another
 * kind, 406 where the client takes nothing of what is produced
 */
export function requireGet(context: ApiContext, { produces, consumes = produces }: RouteMediaTypes): void {
  const { method, headers } = context.req;
  if (method !== 'GET') throw methodNotAllowed();
  if (!canConsume(headers['content-type'] ?? '', consumes)) throw unsupportedMediaType();
  if (!canProduce(headers.accept ?? '', produces)) throw notProducible(produces);
}

/** The same as middleware of a route. */
export function gets(produces: readonly string[]): Middleware {
  return (context) => requireGet(context, { produces });
}

/**
 * Whether a route that produces these media types fits an Accept header at all. This is go-restful's test,
 * which comes before Kubernetes' own: it knows neither qualities nor parameters, nor any wildcard but the full one.
 */
export function canProduce(accept: string, mediaTypes: readonly string[]): boolean {
  if (accept === '') return true;
  return mentioned(accept).some((mediaType) => mediaType === '*/*' || mediaTypes.includes(mediaType));
}

/** Whether a route reads bodies of the kind that a Content-Type header names. */
export function canConsume(contentType: string, mediaTypes: readonly string[]): boolean {
  if (contentType === '' || mediaTypes.includes('*/*')) return true;
  return mentioned(contentType).some((mediaType) => mediaTypes.includes(mediaType));
}

const mentioned = remembering(
  (header): readonly string[] => header.split(',').map((clause) => (clause.split(';', 1)[0] ?? '').trim()),
  { most: 128, longest: 512 },
);
