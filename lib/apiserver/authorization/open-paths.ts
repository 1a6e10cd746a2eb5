import type { Authorizer } from './authorizer.ts';
import { isAlwaysAllowed, parsePathRules } from './path-rules.ts';

/** Lets everybody get some paths, which hold nothing that is anybody's, and asks an authorizer about everything else. */
export function openPaths(paths: readonly string[], authorizer: Authorizer): Authorizer {
  const open = parsePathRules(paths);
  return async (attributes) => {
    const { info } = attributes;
    const isRead = info.verb === 'get' || info.verb === 'head';
    return isRead && isAlwaysAllowed(info, open) ? { isAllowed: true } : await authorizer(attributes);
  };
}
