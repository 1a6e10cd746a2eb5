import type { ObjectResource } from '#lib/apiserver/api-group.ts';
import { encodeListDocument, type ListDocument } from '#lib/apiserver/encoding/list-document.ts';
import type { ApiContext, RequestState } from '#lib/apiserver/http/api-context.ts';
import { notAcceptable } from '#lib/apiserver/http/failures.ts';
import { NO_SELECTORS } from '#lib/apiserver/http/request-selectors.ts';
import { negotiateAnswer, writeBody } from '#lib/apiserver/http/write-response.ts';
import type { ListMeta } from '#lib/apiserver/objects/list-meta.ts';
import { select, selectedObjects } from '#lib/apiserver/objects/selection.ts';
import type { ServedObject } from '#lib/apiserver/objects/served-object.ts';
import { awaitAnswer, readRequestOf } from './await-answer.ts';
import { type MetaConversion, OBJECT_RESTRICTIONS, toMetaConversion } from './conversion.ts';
import { encodeList } from './encode-list.ts';
import { type ListOptions, parseListOptions } from './list-options.ts';
import { cutPage } from './page.ts';
import { partialObjectMetadataList } from './partial-metadata.ts';
import { goTypeName, type ResourceIdentity } from './resource-identity.ts';
import { parseIncludeObject, tableDocument } from './table.ts';
import { validateListOptions } from './validate-list-options.ts';
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

/** Answers with the objects that the selectors match, or with what the client wants made of them. */
export async function serveList(
  context: ApiContext,
  { target, options }: { readonly target: ListTarget; readonly options: ListOptions },
): Promise<void> {
  const { resource, namespace, group, version } = target;
  const representation = negotiateAnswer(context, OBJECT_RESTRICTIONS);
  const { labelSelector, fieldSelector } = options;
  const resourceVersion = resource.watch?.version();
  const answer = resource.list({ namespace, labelSelector, fieldSelector }, readRequestOf(context));
  const batches = answer instanceof Promise ? await awaitAnswer(context, answer) : answer;
  const page = cutPage(select(batches, wantedBy(options), { labelSelector }), {
    limit: options.limit,
    tellsRemaining: labelSelector.requirements.length + fieldSelector.requirements.length === 0,
  });
  const { selection } = page;
  const signal = () => context.state.deadline.signal;
  resource.onServed?.(selection);
  const metadata = { resourceVersion, ...page.metadata };
  const { format, conversion } = representation;
  const asked = conversion && toMetaConversion(conversion);
  if (asked) {
    const items = selectedObjects(selection);
    const document = convertList(context, { items, metadata, target, asked });
    writeBody(context, await encodeListDocument(document, representation, signal), format);
  } else {
    const apiVersion = `${group}/${version}`;
    const list = { kind: resource.listKind, apiVersion, metadata, selection };
    writeBody(context, await encodeList(list, representation, signal), format);
  }
}

function convertList(
  context: ApiContext,
  list: {
    readonly items: readonly ServedObject[];
    readonly metadata: ListMeta;
    readonly target: ListTarget;
    readonly asked: MetaConversion;
  },
): ListDocument<ServedObject> {
  const { items, metadata, target, asked } = list;
  const { group, version, resource } = target;
  const { apiVersion } = asked;
  switch (asked.kind) {
    case 'PartialObjectMetadata': {
      const type = goTypeName(group, resource.listKind);
      throw notAcceptable(`you requested ${asked.kind}, but the requested object is a list (${type})`);
    }
    case 'PartialObjectMetadataList':
      return partialObjectMetadataList(items, { apiVersion, metadata });
    default:
      return tableDocument({
        apiVersion,
        metadata,
        columns: resource.columns,
        items,
        itemType: { kind: resource.kind, apiVersion: `${group}/${version}` },
        include: parseIncludeObject(context.state.query),
      });
  }
}
