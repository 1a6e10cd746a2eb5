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
  /** The preferred one first. */
  readonly versions: readonly ApiVersion[];
}

/** One version of a group. */
export interface ApiVersion {
  /** `v1beta1` */
  readonly version: string;
  /**
   * What is served now; the same array for as long as nothing changes, for discovery is cached by it. Routes to objects are added
   * once, as the server starts: only documents may come and go.
   */
  resources(): readonly ServedResource[];
  /**
   * Leads paths itself that `resources` tells of in discovery alone, such as those of metrics whose names nobody knows
   * beforehand; without it, paths are those of `resources`.
   *
   * @param segments of the path behind group and version
   */
  readonly route?: (segments: readonly string[]) => RoutedDocument | undefined;
  /** Those paths, as descriptions of the API have them. */
  readonly described?: readonly DescribedPath[];
  /** The schemas that its resources and described paths name, and those that these refer to; what all of Kubernetes has is known. */
  readonly schemas?: Schemas;
}

/** Paths with something in braces that {@link ApiVersion.route} leads to. */
export interface DescribedPath {
  /** Behind group and version: `namespaces/{namespace}/{resource}`. */
  readonly path: string;
  /** Of the operation, before and behind group and version: `list` and `ExternalMetricValue`. */
  readonly id: readonly [verb: string, name: string];
  readonly description: string;
  /** The name of the schema of what is got. */
  readonly schema: string;
  /** Of the path, and those of the query beside what any list has; each object the same wherever it is the same parameter. */
  readonly parameters: readonly Parameter[];
}

/** What can be got at a path of a group. */
export type ServedResource = ObjectResource | DocumentResource;

/** What every resource is published as. */
interface ResourceNames {
  /** `pods`; or `pods/http_requests`, which is served at `pods/NAME/http_requests`. */
  readonly name: string;
  readonly singularName: string;
  /** Of what a get responds with. */
  readonly kind: string;
  readonly isNamespaced: boolean;
  readonly shortNames?: readonly string[];
  /** The name of the schema of what a get responds with; without one the resource is not described. */
  readonly schema?: string;
}

/** A resource whose objects have metadata, and which is got, listed, selected from, paged and printed as such. */
export interface ObjectResource<Object extends ServedObject = ServedObject> extends ResourceNames {
  readonly type: 'objects';
  readonly listKind: string;
  /** The name of the schema of the list. */
  readonly listSchema?: string;
  /** How `kubectl get` prints them. */
  readonly columns: readonly TableColumn<Object>[];
  /** @throws {StatusError} when there is no such object and a message of its own fits better than the usual one */
  get(key: ObjectKey): Object | undefined;
  /** All objects, or those of one namespace, sorted by namespace and name. @param slices for making many */
  list(
    namespace: string | undefined,
    slices: TimeSlices,
  ): readonly ObjectBlock[] | Promise<readonly ObjectBlock[]>;
  /** Told what a get or a list responds with, whatever is made of it; an object that is got is a block of its own. */
  onServed?(selection: readonly SelectedBlock<Object>[]): void;
  /**
   * Told of what is listed in a format that other requests share, but for pages, so that it can be encoded ahead the next time.
   *
   * @returns the body to send
   */
  onListed?(listed: ListedObjects): ResponseBody;
  /** How changes are followed; without it the resource is not watched. */
  readonly watch?: Watchable<Object>;
}

/** What is sent to who lists objects. */
export interface ListedObjects {
  /** `undefined` for all. */
  readonly namespace: string | undefined;
  readonly format: 'json' | 'protobuf';
  /** The blocks that this is cut from are encoded whole. */
  readonly selection: Selection;
  readonly body: ResponseBody;
}

/** A column in which `kubectl get` prints objects: `metav1.TableColumnDefinition`. */
export interface TableColumn<Object extends ServedObject = ServedObject> {
  readonly name: string;
  /** One of OpenAPI's types. */
  readonly type: string;
  /** One of OpenAPI's formats; `name` marks the column that identifies the object. */
  readonly format: string;
  readonly description: string;
  /** Columns above 0 are only printed by `-o wide`. */
  readonly priority: number;
  cell(object: Object): string | number | boolean | null;
}

/** A resource whose whole documents, such as the values of a custom metric, its version leads to by `route`. */
export interface DocumentResource extends ResourceNames {
  readonly type: 'document';
}

/** A document that a version of a group leads to by itself; the query may have what that of a list has. */
export interface RoutedDocument {
  read(query: DocumentQuery): Document;
}

/** What a request for a document says, checked. */
export interface DocumentQuery {
  readonly labelSelector: LabelSelector;
  readonly fieldSelector: FieldSelector;
  readonly isWatch: boolean;
  /** All that it says. */
  readonly parameters: URLSearchParams;
}

/** Which object is asked for. */
export interface ObjectKey {
  /** Empty for what has no namespace. */
  readonly namespace: string;
  readonly name: string;
}
