import type { User } from '#lib/apiserver/http/api-context.ts';
import type { RequestInfo } from '#lib/apiserver/http/request-info.ts';

/** Who wants to do what. */
export interface Attributes {
  readonly user: User;
  readonly info: RequestInfo;
  /** Aborts when nobody waits for the response any more; asked for only where there is something to wait for. */
  readonly signal?: () => AbortSignal;
}

/** Whether it may be done, and what the authorizer has to say about that. */
export interface Decision {
  readonly isAllowed: boolean;
  readonly reason?: string;
}

/**
 * Decides whether a user may do something, without a promise where there is nothing to wait for.
 *
 * @throws when no decision could be reached: the response is a 500
 */
export type Authorizer = (attributes: Attributes) => Promise<Decision> | Decision;

/** Lets everybody do everything. */
export const everythingIsAllowed: Authorizer = () => ({ isAllowed: true });

/** Paths that everybody may ask for, anonymous or not. */
export interface PathRules {
  /** Without the slash in front. */
  readonly exact: ReadonlySet<string>;
  readonly prefixes: readonly string[];
}

/**
 * Reads paths, with or without the slash in front; a star at the end stands for whatever follows.
 *
 * @throws when a star stands elsewhere
 */
export function parsePathRules(paths: readonly string[]): PathRules {
  const trimmed = paths.map((path) => path.replace(/^\//, ''));
  const strange = trimmed.find((path) => path.slice(0, -1).includes('*'));
  if (strange !== undefined) throw new Error(`a star may only stand at the end: ${strange}`);
  return {
    exact: new Set(trimmed.filter((path) => !path.endsWith('*'))),
    prefixes: trimmed.filter((path) => path.endsWith('*')).map((path) => path.slice(0, -1)),
  };
}

/** Resources are never meant, wherever they lie. */
export function isAlwaysAllowed(info: RequestInfo, { exact, prefixes }: PathRules): boolean {
  if (info.isResourceRequest) return false;
  const path = info.path.replace(/^\//, '');
  return exact.has(path) || prefixes.some((prefix) => path.startsWith(prefix));
}

/** Lets everybody get some paths, which hold nothing that is anybody's, and asks an authorizer about everything else. */
export function openPaths(paths: readonly string[], authorizer: Authorizer): Authorizer {
  const open = parsePathRules(paths);
  return (attributes) => {
    const { info } = attributes;
    const isRead = info.verb === 'get' || info.verb === 'head';
    return isRead && isAlwaysAllowed(info, open) ? { isAllowed: true } : authorizer(attributes);
  };
}
