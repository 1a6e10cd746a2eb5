import type { User } from '#lib/apiserver/http/api-context.ts';
import type { RequestInfo } from '#lib/apiserver/http/request-info.ts';

export interface Attributes {
  readonly user: User;
  readonly info: RequestInfo;
  /** Aborts when the client no longer waits for the response. Called only where there is something to wait for. */
  readonly signal?: () => AbortSignal;
}

/** A decision and the authorizer's reason for it. */
export interface Decision {
  readonly isAllowed: boolean;
  readonly reason?: string;
}

/**
 * Decides whether a user may do something; synchronous where there is nothing to wait for.
 *
 * @throws when no decision can be reached: the response is a 500
 */
export type Authorizer = (attributes: Attributes) => Promise<Decision> | Decision;

export const alwaysAllow: Authorizer = () => ({ isAllowed: true });

/** Paths that every caller may request, anonymous or not. */
export interface PathRules {
  /** Without the leading slash. */
  readonly exact: ReadonlySet<string>;
  readonly prefixes: readonly string[];
}

/**
 * Parses paths, with or without the leading slash; a trailing `*` matches any suffix.
 *
 * @throws when there is a `*` elsewhere
 */
export function parsePathRules(paths: readonly string[]): PathRules {
  const trimmed = paths.map((path) => path.replace(/^\//, ''));
  const strange = trimmed.find((path) => path.slice(0, -1).includes('*'));
  if (strange !== undefined) throw new Error(`"*" is allowed only at the end: ${strange}`);
  return {
    exact: new Set(trimmed.filter((path) => !path.endsWith('*'))),
    prefixes: trimmed.filter((path) => path.endsWith('*')).map((path) => path.slice(0, -1)),
  };
}

/** Requests for resources never match, whatever their path. */
export function isAlwaysAllowed(info: RequestInfo, { exact, prefixes }: PathRules): boolean {
  if (info.isResourceRequest) return false;
  const path = info.path.replace(/^\//, '');
  return exact.has(path) || prefixes.some((prefix) => path.startsWith(prefix));
}

/** Allows some paths, which expose nothing confidential, to every caller, and delegates all other decisions. */
export function openPaths(paths: readonly string[], authorizer: Authorizer): Authorizer {
  const open = parsePathRules(paths);
  return (attributes) => {
    const { info } = attributes;
    const isRead = info.verb === 'get' || info.verb === 'head';
    return isRead && isAlwaysAllowed(info, open) ? { isAllowed: true } : authorizer(attributes);
  };
}
