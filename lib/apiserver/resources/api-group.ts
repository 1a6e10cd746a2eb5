import type { Document } from '#lib/apiserver/encoding/document.ts';
import type { Parameter, Schemas } from '#lib/apiserver/encoding/schema.ts';
import type { ResponseBody } from '#lib/apiserver/http/response-body.ts';
import type { TimeSlices } from '#lib/concurrency/event-loop.ts';
import type { FieldSelector } from '#lib/kubernetes/selectors/field-selector.ts';
import type { LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import type { SelectedBlock, Selection } from './selection.ts';
import type { ObjectBlock, ServedObject, Watchable } from './served-object.ts';

/** An API group that this server serves behind the aggregator. */
export interface ApiGroup {
  /** `metrics.k8s.io` */
  readonly name: string;
  /** The preferred version first. */
  readonly versions: readonly ApiVersion[];
}

/** One version of a group. */
export interface ApiVersion {
  /** `v1beta1` */
  readonly version: string;
  /**
   * The served resources; the same array until they change, since discovery is cached by it. Routes to objects are
   * added once, at the start: only documents may come and go.
   */
  resources(): readonly ServedResource[];
  /**
   * Routes paths itself that `resources` lists in discovery alone, such as those of metrics with dynamic names; by
   * default, paths are those of `resources`.
   *
   * @param segments of the path after group and version
   */
  readonly route?: (segments: readonly string[]) => RoutedDocument | undefined;
  /** These paths, as descriptions of the API have them. */
  readonly described?: readonly DescribedPath[];
  /** Schemas that its resources and described paths refer to, beside those of all of Kubernetes. */
  readonly schemas?: Schemas;
}

/** Paths with parameters that {@link ApiVersion.route} routes. */
export interface DescribedPath {
  /** After group and version: `namespaces/{namespace}/{resource}`. */
  readonly path: string;
  /** Parts of the operation's ID, before and after group and version: `list` and `ExternalMetricValue`. */
  readonly id: readonly [verb: string, name: string];
  readonly description: string;
  /** Name of the schema of the response. */
  readonly schema: string;
  /** Of the path, and of the query beside those of any list. One parameter is the same object wherever it is used. */
  readonly parameters: readonly Parameter[];
}

/** A resource that a version of a group serves. */
export type ServedResource = ObjectResource | DocumentResource;

interface ResourceNames {
  /** `pods`; or `pods/http_requests`, which is served at `pods/NAME/http_requests`. */
  readonly name: string;
  readonly singularName: string;
  /** Kind of the response to a get. */
  readonly kind: string;
  readonly isNamespaced: boolean;
  readonly shortNames?: readonly string[];
  /** Name of the schema of the response to a get; a resource without one is not described. */
  readonly schema?: string;
}

/** A resource whose objects have metadata and are got, listed, selected, paged and printed as such. */
export interface ObjectResource<Object extends ServedObject = ServedObject> extends ResourceNames {
  readonly type: 'objects';
  readonly listKind: string;
  /** Name of the schema of the list. */
  readonly listSchema?: string;
  /** Columns of `kubectl get`. */
  readonly columns: readonly TableColumn<Object>[];
  /** @throws {StatusError} when the object does not exist and a specific message is better than the usual one */
  get(key: ObjectKey): Object | undefined;
  /**
   * All objects, or those of one namespace, sorted by namespace and name.
   *
   * @param slices for building many
   */
  list(
    namespace: string | undefined,
    slices: TimeSlices,
  ): readonly ObjectBlock[] | Promise<readonly ObjectBlock[]>;
  /**
   * Called with the objects of every response to a get or a list, in any format; an object that is got is a block by
   * itself.
   */
  onServed?(selection: readonly SelectedBlock<Object>[]): void;
  /**
   * Called for each list in a shared format, except pages, so that it can be encoded ahead the next time.
   *
   * @returns the body to send
   */
  onListed?(listed: ListedObjects): ResponseBody;
  /** By default, the resource is not watched. */
  readonly watch?: Watchable<Object>;
}

/** A list that is sent to a client. */
export interface ListedObjects {
  /** `undefined` for all. */
  readonly namespace: string | undefined;
  readonly format: 'json' | 'protobuf';
  /** The blocks that it is cut from are encoded as a whole. */
  readonly selection: Selection;
  readonly body: ResponseBody;
}

/** A column of `kubectl get`: `metav1.TableColumnDefinition`. */
export interface TableColumn<Object extends ServedObject = ServedObject> {
  readonly name: string;
  /** A type of OpenAPI. */
  readonly type: string;
  /** A format of OpenAPI; `name` marks the column that identifies the object. */
  readonly format: string;
  readonly description: string;
  /** Columns above 0 are only printed by `-o wide`. */
  readonly priority: number;
  cell(object: Object): string | number | boolean | null;
}

/** A resource of whole documents, such as the values of a custom metric, which its version routes itself. */
export interface DocumentResource extends ResourceNames {
  readonly type: 'document';
}

/** A document that a version of a group routes itself; its query may have the parameters of a list. */
export interface RoutedDocument {
  read(query: DocumentQuery): Document;
}

/** The validated query for a document. */
export interface DocumentQuery {
  readonly labelSelector: LabelSelector;
  readonly fieldSelector: FieldSelector;
  readonly isWatch: boolean;
  /** All parameters of the query. */
  readonly parameters: URLSearchParams;
}

export interface ObjectKey {
  /** Empty for cluster-scoped resources. */
  readonly namespace: string;
  readonly name: string;
}
