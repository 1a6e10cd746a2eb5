/** An API group that somebody else serves, and what it says it has. */
export interface AggregatedGroup {
  readonly group: string;
  readonly version: string;
  /** `resources` of its APIResourceList; `undefined` while it can't be asked. */
  readonly resources: readonly AggregatedResource[] | undefined;
}

/** The part of `metav1.APIResource` that discovery passes on. */
export interface AggregatedResource {
  readonly name: string;
  readonly singularName?: string;
  readonly namespaced?: boolean;
  readonly kind: string;
  readonly verbs?: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}
