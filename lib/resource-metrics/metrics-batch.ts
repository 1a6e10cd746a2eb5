/** What one scrape of one node is turned into. */
export interface MetricsBatch {
  readonly nodeName: string;
  /** When the response was requested and when it had come in, on our monotonic clock. */
  readonly requestedAtMs: number;
  readonly receivedAtMs: number;
  readonly stampResolution: StampResolution;
  /** `undefined` where the kubelet did not know its own usage. */
  readonly node: NodePoint | undefined;
  readonly pods: readonly PodPoints[];
  /** What had to be left out because it could not be read, in words. */
  readonly ignored: readonly string[];
}

/**
 * What one kubelet reported of one container's, or its node's, use of resources. Plain data: a value that the
 * kubelet did not know (it writes 0 for those) is `undefined`.
 */
export interface MetricsPoint {
  /** Of the container or the node. */
  readonly name: string;
  /** When this life of the container or node began, by the kubelet's clock. */
  readonly startedAtMs: number | undefined;
  /** When the kubelet read the CPU counter, by its own clock. */
  readonly takenAtMs: number;
  /**
   * CPU time used since the start, in core-nanoseconds. A double is exact to 2^53 (104 core-days) and within
   * 4 ns up to 2^55: less than a microcore over any window that is served.
   */
  readonly cpuCoreNanoseconds: number;
  /** Working set: what cannot be reclaimed under memory pressure, in bytes. */
  readonly memoryBytes: number;
  /** Where anything beside CPU and memory is enabled. */
  readonly extraBytes?: ExtraBytes | undefined;
}

/** A container that the kubelet reported with everything that an autoscaler needs. */
export type ContainerPoint = MetricsPoint;

/** A node's own point. */
export interface NodePoint extends MetricsPoint {
  /** The kubelet's own rate over its last sampling interval; `undefined` where it gives none. */
  readonly cpuUsageNanocores: number | undefined;
}

/** One pod of a kubelet's response. */
export interface PodPoints {
  readonly namespace: string;
  readonly name: string;
  /** `undefined` where the endpoint does not have it (`/metrics/resource`). */
  readonly uid: string | undefined;
  /** The containers of which the kubelet reported everything, in its order. */
  readonly containers: readonly ContainerPoint[];
  /** Which container lacks what, where one that counts does: the pod's sum without it would be too small. */
  readonly incompleteBecause: string | undefined;
}

/** How finely the stamps of a response are: the summary has whole seconds, the exposition milliseconds. */
export type StampResolution = 'second' | 'millisecond';

/** What kubelets report beside CPU and memory, by its name in a usage. */
export type ExtraResource = 'ephemeral-storage' | 'swap';

/** Those that are enabled. */
export type ExtraResources = ReadonlySet<ExtraResource>;

/** Bytes in use of each that is enabled; one that the kubelet does not know is missing, for 0 says that there is none in use. */
export type ExtraBytes = Readonly<Partial<Record<ExtraResource, number>>>;
