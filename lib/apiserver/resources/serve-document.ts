import type { RoutedDocument } from '#lib/apiserver/api-group.ts';
import type { ApiContext } from '#lib/apiserver/http/api-context.ts';
import { writeDocument } from '#lib/apiserver/http/write-response.ts';
import { type ListOptions, parseListOptions } from './list-options.ts';

/**
 * Responds with a document that a group leads to by itself.
 *
 * @throws {StatusError} 400 for a query that no list may have
 */
export function serveDocument(context: ApiContext, document: RoutedDocument): void {
  const { query: parameters } = context.state;
  const options = OPTIONS.get(parameters) ?? parseListOptions(parameters);
  OPTIONS.set(parameters, options);
  const { labelSelector, fieldSelector, isWatch } = options;
  writeDocument(context, document.read({ labelSelector, fieldSelector, isWatch, parameters }));
}

/** By query, which requests for the same URL share: a selector is read once, not with every request of an autoscaler. */
const OPTIONS = new WeakMap<URLSearchParams, ListOptions>();
