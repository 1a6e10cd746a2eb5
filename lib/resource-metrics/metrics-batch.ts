/** The decoded response of one scrape of one node. */
export interface MetricsBatch extends ResponseTimes {
  readonly nodeName: string;
  readonly stampResolution: StampResolution;
  /** `undefined` if the kubelet did not report the node's usage. */
  readonly node: MetricsPoint | undefined;
  readonly pods: readonly PodPoints[];
  /** Descriptions of unreadable parts of the response. */
  readonly ignored: readonly string[];
}

/** When a response was requested and received, on the monotonic clock. */
export interface ResponseTimes {
  /** When the request was written to its connection. */
  readonly requestedAtMs: number;
  /** When the head of the response was read. The kubelet sends it once it has read all containers. */
  readonly respondedAtMs: number;
  /** End of the response. */
  readonly receivedAtMs: number;
}

/**
 * Usage of one container or node as reported by a kubelet, with all values that autoscalers need. Other values that
 * the kubelet lacks (it reports 0) are `undefined`.
 */
export interface MetricsPoint {
  /** Of the container or the node. */
  readonly name: string;
  /** Start of the container or node, by the kubelet's clock. */
  readonly startedAtMs: number | undefined;
  /** Time of the CPU counter's reading, by the kubelet's clock. */
  readonly takenAtMs: number;
  /**
   * CPU time since the start, in core-nanoseconds. A double is exact up to 2^53 (104 core-days) and within 4 ns up to
   * 2^55, which is less than a microcore over any window served.
   */
  readonly cpuCoreNanoseconds: number;
  /**
   * The kubelet's own rate, if it reports one. For a cached value, over its last sampling interval; with a CRI runtime
   * since the previous request to the kubelet, which can be milliseconds.
   */
  readonly cpuUsageNanocores: number | undefined;
  /** Working set in bytes: memory that cannot be reclaimed under pressure. */
  readonly memoryBytes: number;
  /** Present if extra resources are enabled. */
  readonly extraBytes?: ExtraBytes | undefined;
}

export interface PodPoints {
  readonly namespace: string;
  readonly name: string;
  /** `undefined` for `/metrics/resource`, which does not report it. */
  readonly uid: string | undefined;
  /** The containers with complete data, in the kubelet's order. */
  readonly containers: readonly MetricsPoint[];
  /** Which container lacks which value, so that a sum over the pod would be too small. */
  readonly incompleteBecause: string | undefined;
}

/** Resolution of timestamps: seconds in the summary, milliseconds in the exposition. */
export type StampResolution = 'second' | 'millisecond';

/** Named as in a usage. */
export type ExtraResource = 'ephemeral-storage' | 'swap';

export type ExtraResources = ReadonlySet<ExtraResource>;

/** Bytes in use by enabled resource. A value that the kubelet lacks is absent, since 0 means none in use. */
export type ExtraBytes = Readonly<Partial<Record<ExtraResource, number>>>;
