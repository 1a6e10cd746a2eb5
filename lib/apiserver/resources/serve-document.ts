import type { ApiContext } from '#lib/apiserver/http/api-context.ts';
import { writeDocument } from '#lib/apiserver/http/write-response.ts';
import { keptWith } from '#lib/cache/memoize.ts';
import type { RoutedDocument } from './api-group.ts';
import { parseListOptions } from './list-options.ts';

/**
 * Responds with a document that a group leads to by itself.
 *
 * @throws {StatusError} 400 for a query that no list may have
 */
export function serveDocument(context: ApiContext, document: RoutedDocument): void {
  const { query: parameters } = context.state;
  const { labelSelector, fieldSelector, isWatch } = optionsOf(parameters);
  writeDocument(context, document.read({ labelSelector, fieldSelector, isWatch, parameters }));
}

/** By query, which requests for the same URL share: a selector is read once, not with every request of an autoscaler. */
const optionsOf = keptWith((query: URLSearchParams) => parseListOptions(query));
