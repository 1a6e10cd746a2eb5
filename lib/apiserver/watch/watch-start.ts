import { badRequest, expired } from '#lib/apiserver/http/status-error.ts';
import type { ListOptions } from '#lib/apiserver/resources/list-options.ts';
import type { ObjectBlock, Watchable } from '#lib/apiserver/resources/served-object.ts';
import { goQuote } from '#lib/kubernetes/selectors/go-quote.ts';

/** Where a watch begins. */
export interface WatchStart {
  readonly version: string;
  /** What the watcher knows already; nothing, where it is to be told of everything first. */
  readonly known: readonly ObjectBlock[];
  /** Whether the end of that is marked. */
  readonly marksInitialEnd: boolean;
}

/**
 * Finds out where a watch begins: at the version that it names, or with everything that there is. Without a
 * version, or from 0, it begins with everything unless it asks for the opposite, as in Kubernetes.
 *
 * @throws {StatusError} 410 for a version that is too old or another instance's, 400 for what is no version
 */
export function startOfWatch(
  watchable: Watchable,
  options: ListOptions,
  namespace: string | undefined,
): WatchStart {
  const { resourceVersion, sendInitialEvents } = options;
  const version = watchable.version();
  if (sendInitialEvents ?? isAnyVersion(resourceVersion)) {
    return { version, known: [], marksInitialEnd: sendInitialEvents === true };
  }
  const from = isAnyVersion(resourceVersion) ? version : resourceVersion;
  if (!/^\d+$/.test(from)) {
    throw badRequest(`Invalid resource version ${goQuote(from)}: it is no whole number`);
  }
  const known = watchable.told(from, namespace);
  if (!known) throw expired(`too old resource version: ${from} (${version})`);
  return { version: from, known, marksInitialEnd: false };
}

function isAnyVersion(resourceVersion: string): boolean {
  return resourceVersion === '' || resourceVersion === '0';
}
