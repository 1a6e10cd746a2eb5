/** What minimum, maximum and rates make of a recommendation. */
export interface Limit {
  readonly replicas: number;
  /** Reason and message of the condition ScalingLimited. */
  readonly reason: string;
  readonly message: string;
  /** What each policy allows; absent for an HPA without `behavior` and where it does not scale. */
  readonly policies?: readonly PolicyAllowance[];
}

/** How far one policy lets an HPA scale at present. */
export interface PolicyAllowance {
  readonly type: string;
  readonly value: number;
  readonly periodSeconds: number;
  /** How many replicas there were when the period began, by the changes of this controller. */
  readonly periodStartReplicas: number;
  /** The most, or scaling down the fewest, replicas. */
  readonly replicas: number;
}

/** What is said of each limit. */
export const LIMITS = {
  none: { reason: 'DesiredWithinRange', message: 'the desired count is within the acceptable range' },
  min: {
    reason: 'TooFewReplicas',
    message: 'the desired replica count is less than the minimum replica count',
  },
  max: {
    reason: 'TooManyReplicas',
    message: 'the desired replica count is more than the maximum replica count',
  },
  up: {
    reason: 'ScaleUpLimit',
    message: 'the desired replica count is increasing faster than the maximum scale rate',
  },
  down: {
    reason: 'ScaleDownLimit',
    message: 'the desired replica count is decreasing faster than the maximum scale rate',
  },
} as const;

/** The bounds of an HPA, and where it is. */
export interface ReplicaRange {
  readonly currentReplicas: number;
  readonly minReplicas: number;
  readonly maxReplicas: number;
}
