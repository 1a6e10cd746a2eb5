/** Why a node or a pod is not served. */
export interface Reason {
  /** For programs; the table of docs/troubleshooting.md is sorted by it. */
  readonly code: ReasonCode;
  /** A sentence with the names and numbers of this case. */
  readonly message: string;
}

/** Every reason that there is, and what it means. */
export const REASONS = {
  NodesNotListed: 'The API server has not told yet which nodes there are.',
  UnknownNode: 'The API server knows no such node, or --node-selector leaves it out.',
  NotScrapedYet: "The node's kubelet has not been asked yet.",
  NodeFailing: "The node's kubelet cannot be scraped, and its last answer is too old to be served.",
  NodeUsageUnknown: 'The kubelet answers, but does not know what its node uses.',
  WaitingForSecondReading: 'CPU use takes two readings at least 10 s apart, and there is only one so far.',
  SamplingStopped: 'The kubelet has given the same sample for minutes: it has stopped sampling.',
  PodsNotListed: 'The API server has not told yet which pods run.',
  NoSuchPod: 'The API server knows no such pod.',
  NotRunning: 'The pod does not run.',
  NotScheduled: 'The pod has no node yet.',
  ReplacedPod: 'The kubelet still reports another pod that had this name before.',
  IncompletePod: 'The kubelet lacks data of one of its containers, and a sum without it would be too small.',
  NoContainers: 'The kubelet tells of no container of the pod.',
  NotReportedYet: 'The pod started after its node was scraped last.',
  NotReported: 'No kubelet tells of the pod.',
  NotPublishedYet: 'Its usage is known and will be served from the next answer of its node on.',
  LookupFailed: 'Which node the pod is on could not be found out.',
} as const;

/** The name of a reason. */
export type ReasonCode = keyof typeof REASONS;
