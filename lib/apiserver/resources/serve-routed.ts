import type { RoutedDocument } from '#lib/apiserver/api-group.ts';
import type { ApiContext } from '#lib/apiserver/http/api-context.ts';
import { writeDocument } from '#lib/apiserver/http/write-response.ts';
import { parseListOptions } from './list-options.ts';
import { readRequestOf } from './read-request-of.ts';

/**
 * Responds with a document that a group leads to by itself.
 *
 * @throws {StatusError} 400 for a query that no list may have
 */
export async function serveRouted(context: ApiContext, routed: RoutedDocument): Promise<void> {
  const { labelSelector, fieldSelector, isWatch } = parseListOptions(context.state.query);
  const reading = routed.read({ labelSelector, fieldSelector, isWatch }, readRequestOf(context.state));
  writeDocument(context, await context.state.deadline.wait(reading));
}
