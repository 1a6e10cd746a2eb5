/** One address of a node, as its status lists it. */
export interface NodeAddress {
  /** Hostname, InternalDNS, InternalIP, ExternalDNS or ExternalIP. */
  readonly type: string;
  readonly address: string;
}

/** What this program keeps of a Node object; the same object for as long as none of it changes. */
export interface LiveNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly addresses: readonly NodeAddress[];
  /** `status.daemonEndpoints.kubeletEndpoint.Port`; `undefined` where absent or 0. */
  readonly kubeletPort: number | undefined;
  /** Where its kubelet reports resources, if not at `/metrics/resource`: an annotation of that name. */
  readonly resourceMetricsPath: string | undefined;
}

/** The nodes that the API server knows and the node selector admits, kept current by a watch. */
export interface LiveNodes {
  /** Whether the first list has been read completely. */
  readonly isSynced: boolean;
  /** Another number whenever something of it has changed. */
  readonly revision: number;
  get(name: string): LiveNode | undefined;
  values(): Iterable<LiveNode>;
}
