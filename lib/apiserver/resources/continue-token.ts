import { badRequest } from '#lib/apiserver/http/status-error.ts';

/** Where an object stands among all: they are sorted by namespace, then by name. */
export interface ObjectPosition {
  /** Empty for what has no namespace. */
  readonly namespace: string;
  readonly name: string;
}

const VERSION = 'meta.k8s.io/v1';

/**
 * The token of the page behind an object. It is the object's key and nothing else: the page goes on behind it in
 * whatever there is by then, at any replica, so that no change in between fails the listing.
 */
export function formatContinueToken({ namespace, name }: ObjectPosition): string {
  return Buffer.from(JSON.stringify({ v: VERSION, start: `${namespace}/${name}` })).toString('base64url');
}

/** @throws {StatusError} 400 for a token that is none of ours */
export function parseContinueToken(token: string): ObjectPosition {
  const [namespace, name, ...rest] = readStart(token)?.split('/') ?? [];
  if (namespace === undefined || !name || rest.length > 0) {
    throw badRequest('invalid continue token: continue key is not valid: it is none that this server gave');
  }
  return { namespace, name };
}

/** Whether an object comes after a position. */
export function isBehind(
  { namespace = '', name }: { readonly namespace: string | undefined; readonly name: string },
  position: ObjectPosition,
): boolean {
  return namespace === position.namespace ? name > position.name : namespace > position.namespace;
}

function readStart(token: string): string | undefined {
  try {
    const content: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    if (typeof content !== 'object' || content === null) return undefined;
    const { v, start } = content as { readonly v?: unknown; readonly start?: unknown };
    return v === VERSION && typeof start === 'string' ? start : undefined;
  } catch {
    return undefined; // neither base64 nor JSON
  }
}
