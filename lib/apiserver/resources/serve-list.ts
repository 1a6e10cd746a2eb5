import type { ApiContext, RequestState } from '#lib/apiserver/http/api-context.ts';
import { NO_SELECTORS } from '#lib/apiserver/http/request-selectors.ts';
import { COUNTED_FROM_BYTES } from '#lib/apiserver/http/response-body.ts';
import { negotiateResponse, writeBody } from '#lib/apiserver/http/write-response.ts';
import type { ObjectResource } from './api-group.ts';
import { OBJECT_RESTRICTIONS, type ResourceIdentity } from './conversions.ts';
import { blockFormatOf, encodeList } from './encode-list.ts';
import { type ListOptions, parseListOptions, validateListOptions } from './list-options.ts';
import { cutPage } from './page.ts';
import { countSelected, type Selection, selectInSlices } from './selection.ts';
import { wantedBy } from './wanted-objects.ts';

/** What a list is asked of. */
export interface ListTarget extends ResourceIdentity {
  readonly resource: ObjectResource;
  /** `undefined` for all. */
  readonly namespace: string | undefined;
}

/**
 * What a request says about the list or watch that it wants.
 *
 * @throws {StatusError} 400 for options that cannot be read, 422 for those that do not go together
 */
export function listOptionsOf(
  { query, info }: Pick<RequestState, 'query' | 'info'>,
  resource: ObjectResource,
): ListOptions {
  const options = parseListOptions(query, info.isResourceRequest ? info.selectors : NO_SELECTORS);
  validateListOptions(options, { isWatchListEnabled: resource.watch !== undefined });
  return options;
}

/**
 * Responds with the objects that the selectors match, or with what the client wants made of them. The client's formats come
 * first, so that a request which cannot be served costs nothing.
 */
export async function serveList(
  context: ApiContext,
  { target, options }: { readonly target: ListTarget; readonly options: ListOptions },
): Promise<void> {
  const { resource, namespace } = target;
  const { labelSelector, fieldSelector, limit } = options;
  const { deadline, query, slices } = context.state;
  const representation = negotiateResponse(context, OBJECT_RESTRICTIONS);

  const resourceVersion = resource.watch?.version();
  const blocks = await deadline.wait(resource.list(namespace, slices));
  const requirements = labelSelector.requirements.length + fieldSelector.requirements.length;
  const signal = () => deadline.signal;
  const selecting = { labelSelector, requirements, slices, signal };
  const selected = await selectInSlices(blocks, wantedBy(options), selecting);
  const page = cutPage(selected, { limit, tellsRemaining: requirements === 0 });
  resource.onServed?.(page.selection);
  const format = blockFormatOf(representation);
  if (!format) await holdEncoded(context, page.selection);

  const list = { ...target, ...page, metadata: { resourceVersion, ...page.metadata } };
  const body = await encodeList(list, representation, { query, signal, slices });
  // Who takes pages, be it one of a single object, would have all objects encoded ahead with every snapshot.
  const isPage = page.metadata.continue !== undefined || options.continue !== '';
  const sent =
    format && !isPage && resource.onListed?.({ namespace, format, selection: page.selection, body });
  writeBody(context, sent || body, representation.format);
}

/** What an object takes of a table or of YAML, about; once the whole is encoded it is known. */
const ESTIMATED_OBJECT_BYTES = 1_024;

/** Waits before memory is taken that this response alone will have. */
async function holdEncoded({ state }: ApiContext, selection: Selection): Promise<void> {
  const bytes = countSelected(selection) * ESTIMATED_OBJECT_BYTES;
  if (bytes >= COUNTED_FROM_BYTES) await state.held?.hold(bytes);
}
