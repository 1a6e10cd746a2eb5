import type { Clock } from '#lib/time/clock.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import type { Column } from '../resources/column.ts';
import { columnsOf, rowOf } from '../resources/columns.ts';
import { groupVersion, presented, type ResourceType } from '../resources/resource-type.ts';
import type { ListPage } from './list.ts';
import type { Negotiated } from './negotiation.ts';

/** What `includeObject` may ask to have with each row of a Table. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** How objects of one resource are shown to one caller. */
export interface ViewOptions extends Negotiated {
  readonly type: ResourceType;
  readonly includeObject: IncludeObject;
  readonly clock: Clock;
}

/** One stored object as asked for: itself, its metadata, or a Table of one row. */
export function viewOfObject(stored: KubernetesObject, options: ViewOptions): unknown {
  const object = presented(stored, options.type);
  switch (options.view) {
    case 'Object':
      return object;
    case 'PartialObjectMetadata':
      return partial(object, options);
    case 'Table':
      return table([object], { resourceVersion: object.metadata.resourceVersion }, options);
  }
}

/** The head of a list, to which the caller adds items (rows, for a Table) one by one. */
export interface ListView {
  readonly head: Readonly<Record<string, unknown>>;
  readonly itemsField: 'items' | 'rows';
  item(object: KubernetesObject): unknown;
}

/** Lists of custom resources tell that there is no more; Go leaves out the empty text of others. */
function continueOf({ continueToken }: ListPage, { type, view }: ViewOptions): { continue?: string } {
  if (continueToken !== undefined) return { continue: continueToken };
  return type.isCustom && view === 'Object' ? { continue: '' } : {};
}

/** A list as asked for, in parts, because a whole one may not fit into a string. */
export function viewOfList(page: ListPage, options: ViewOptions): ListView {
  const { type, view, viewVersion } = options;
  const metadata = {
    resourceVersion: String(page.resourceVersion),
    ...continueOf(page, options),
    ...(page.remainingItemCount === undefined ? {} : { remainingItemCount: page.remainingItemCount }),
  };
  switch (view) {
    case 'Object':
      return {
        head: { kind: type.listKind, apiVersion: groupVersion(type), metadata },
        itemsField: 'items',
        item: (stored) => {
          const { kind, apiVersion, ...rest } = presented(stored, type);
          // Custom resources are told with their kind, which no decoder can add.
          return type.isCustom ? { apiVersion, kind, ...rest } : rest;
        },
      };
    case 'PartialObjectMetadata':
      return {
        head: { kind: 'PartialObjectMetadataList', apiVersion: `meta.k8s.io/${viewVersion}`, metadata },
        itemsField: 'items',
        item: (object) => partial(object, options),
      };
    case 'Table': {
      const columns = columnsOf(type);
      return {
        head: tableHead(metadata, columns, options),
        itemsField: 'rows',
        item: (stored) => row(presented(stored, type), columns, options),
      };
    }
  }
}

/** A bookmark's object: nothing of it but its version means anything. */
export function bookmarkObject(
  resourceVersion: number,
  options: ViewOptions,
  annotations?: Readonly<Record<string, string>>,
): unknown {
  const metadata = { resourceVersion: String(resourceVersion), ...(annotations ? { annotations } : {}) };
  const own = { kind: options.type.kind, apiVersion: groupVersion(options.type), metadata };
  switch (options.view) {
    case 'Object':
      return own;
    case 'PartialObjectMetadata':
      return { ...own, kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${options.viewVersion}` };
    case 'Table':
      return table([], metadata, options);
  }
}

function table(objects: readonly KubernetesObject[], metadata: object, options: ViewOptions) {
  const columns = columnsOf(options.type);
  return {
    ...tableHead(metadata, columns, options),
    rows: objects.map((object) => row(presented(object, options.type), columns, options)),
  };
}

function tableHead(metadata: object, columns: readonly Column[], { viewVersion }: ViewOptions) {
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${viewVersion}`,
    metadata,
    columnDefinitions: columns.map(({ name, type, format = '', description, priority }) => ({
      name,
      type,
      format,
      description,
      priority,
    })),
  };
}

function row(object: KubernetesObject, columns: readonly Column[], options: ViewOptions) {
  const cells = rowOf(columns, object, options.clock);
  switch (options.includeObject) {
    case 'None':
      return { cells };
    case 'Metadata':
      return { cells, object: partial(object, options) };
    case 'Object':
      return { cells, object };
  }
}

function partial({ metadata }: KubernetesObject, { viewVersion }: ViewOptions) {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${viewVersion}`, metadata };
}
