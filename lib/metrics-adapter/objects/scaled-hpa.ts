/** An object by which others mean one that has a number. */
export interface DescribedObject {
  /** As in `networking.k8s.io/v1`; absent where the HPA does not tell. */
  readonly apiVersion?: string | undefined;
  readonly kind: string;
  readonly name: string;
}

/** A metric of an HPA that somebody has to collect. */
export interface HpaMetric {
  readonly type: 'Pods' | 'Object' | 'External';
  readonly name: string;
  /** Of the metric's selector. */
  readonly matchLabels: Readonly<Record<string, string>>;
  /** The keys of the selector's expressions, where it has any. */
  readonly expressionKeys?: readonly string[];
  /** Of metrics of type Object alone. */
  readonly describedObject?: DescribedObject;
  /** Of metrics of type Object: whether the target is a value for each replica. */
  readonly targetsAverage?: boolean;
}

/** What is kept of a HorizontalPodAutoscaler. */
export interface ScaledHpa {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** As the API server writes it, in the order of time; empty where it is not known. */
  readonly createdAt: string;
  /** Those that configure collectors, and those that were to do so and are misspelt, by their keys. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly scaleTargetRef: DescribedObject;
  /** Those that its status says that the target has, or is to have where these are more; `undefined` while it says neither. */
  readonly replicas: number | undefined;
  readonly metrics: readonly HpaMetric[];
}

/** `External/queue-depth`, as messages name a metric. */
export function nameOfMetric({ type, name }: Pick<HpaMetric, 'type' | 'name'>): string {
  return `${type}/${name}`;
}
