import type { ObjectResource } from '#lib/apiserver/api-group.ts';
import { encodeListDocument, type ListDocument } from '#lib/apiserver/encoding/list-document.ts';
import type { ListMeta } from '#lib/apiserver/encoding/list-meta.ts';
import { notAcceptable } from '#lib/apiserver/failures.ts';
import type { ApiContext } from '#lib/apiserver/middleware/api-context.ts';
import { NO_SELECTORS } from '#lib/apiserver/request-selectors.ts';
import type { ServedObject } from '#lib/apiserver/served-object.ts';
import { serveWatch } from '#lib/apiserver/watch/serve-watch.ts';
import type { WatchServer } from '#lib/apiserver/watch/watch-server.ts';
import { negotiateAnswer, writeBody, writeParts } from '#lib/apiserver/write-document.ts';
import { awaitAnswer, readRequestOf } from './await-answer.ts';
import { type MetaConversion, OBJECT_RESTRICTIONS, toMetaConversion } from './conversion.ts';
import { encodeList } from './encode-list.ts';
import { parseListOptions } from './list-options.ts';
import { cutPage } from './page.ts';
import { partialObjectMetadataList } from './partial-metadata.ts';
import { goTypeName, type ResourceIdentity } from './resource-identity.ts';
import { select, selectedObjects } from './selection.ts';
import { parseIncludeObject, tableDocument } from './table.ts';
import { validateListOptions } from './validate-list-options.ts';
import { wantedBy } from './wanted-objects.ts';

/** What a list is asked of. */
export interface ListTarget extends ResourceIdentity {
  readonly resource: ObjectResource;
  /** `undefined` for all. */
  readonly namespace: string | undefined;
  /** Takes over those who want to be told of changes, too. */
  readonly watches: WatchServer;
}

/** Answers with the objects that the selectors match, or with what the client wants made of them. */
export async function serveList(context: ApiContext, target: ListTarget): Promise<void> {
  const { resource, namespace, group, version } = target;
  const { query, info } = context.state;
  const options = parseListOptions(query, info.isResourceRequest ? info.selectors : NO_SELECTORS);
  validateListOptions(options, { isWatchListEnabled: resource.watch !== undefined });
  const representation = negotiateAnswer(context, OBJECT_RESTRICTIONS);
  if (options.isWatch) return serveWatch(context, { target, options });
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
    writeParts(context, await encodeList(list, representation, signal), format);
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
