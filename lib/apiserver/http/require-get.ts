import { canConsume, canProduce } from '#lib/apiserver/negotiation/route-media-types.ts';
import type { ApiContext, Middleware } from './api-context.ts';
import { methodNotAllowed, notProducible, unsupportedMediaType } from './failures.ts';

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
  if (context.method !== 'GET') throw methodNotAllowed();
  if (!canConsume(context.get('Content-Type'), consumes)) throw unsupportedMediaType();
  if (!canProduce(context.get('Accept'), produces)) throw notProducible(produces);
}

/** The same as middleware of a route. */
export function gets(produces: readonly string[]): Middleware {
  return (context, next) => {
    requireGet(context, { produces });
    return next();
  };
}
