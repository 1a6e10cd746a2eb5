import type { RequestInfo } from '#lib/apiserver/http/request-info.ts';
import type { Authorizer } from './authorizer.ts';

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
