import { badRequest } from '#lib/apiserver/http/failures.ts';
import { isTrue, parseCount } from '#lib/apiserver/http/query-values.ts';
import {
  type RequestSelectors,
  readSelectors,
  type SentSelector,
} from '#lib/apiserver/http/request-selectors.ts';
import type { FieldSelector } from '#lib/kubernetes/selectors/field-selector.ts';
import type { LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { SelectorError } from '#lib/kubernetes/selectors/selector-error.ts';

/** The query parameters of a list or watch: `metav1.ListOptions`. */
export interface ListOptions {
  readonly labelSelector: LabelSelector;
  readonly fieldSelector: FieldSelector;
  readonly isWatch: boolean;
  readonly allowWatchBookmarks: boolean;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  /** 0 for no limit. */
  readonly timeoutSeconds: number;
  /** 0 for no limit. */
  readonly limit: number;
  readonly continue: string;
  /** `undefined` where the query does not have it: to say no is something else than to say nothing. */
  readonly sendInitialEvents: boolean | undefined;
}

/**
 * @param selectors those of the query, where they have been read already
 * @throws {StatusError} 400 for what cannot be read, numbers before selectors as in Kubernetes
 */
export function parseListOptions(
  query: URLSearchParams,
  selectors: RequestSelectors = readSelectors(query),
): ListOptions {
  const timeoutSeconds = parseCount(query.get('timeoutSeconds'));
  const limit = parseCount(query.get('limit'));
  return {
    labelSelector: understood(selectors.label),
    fieldSelector: understood(selectors.field),
    isWatch: isTrue(query.get('watch')),
    allowWatchBookmarks: isTrue(query.get('allowWatchBookmarks')),
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    timeoutSeconds,
    limit,
    continue: query.get('continue') ?? '',
    sendInitialEvents: query.has('sendInitialEvents') ? isTrue(query.get('sendInitialEvents')) : undefined,
  };
}

function understood<Selector>({ parsed }: SentSelector<Selector>): Selector {
  if (parsed instanceof SelectorError) throw badRequest(parsed.message);
  return parsed;
}
