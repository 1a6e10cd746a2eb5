/** An object in the HPA's namespace. */
export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly name: string;
}

export interface MetricIdentifier {
  readonly name: string;
  readonly selector?: LabelSelectorObject;
}

/** A label selector as objects hold it. */
export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}
