/** How far pods are from their target, together. */
export interface Measurement {
  /** Value over target. */
  readonly ratio: number;
  /** The mean over the pods that count, in thousandths. */
  readonly average: bigint;
  /** Percent of what is requested; only where the target is one. */
  readonly utilization?: number;
}

/** One way of comparing pods with a target. */
export interface PodMeasure {
  /** @throws {MetricFailure} when nothing can be measured */
  measure(values: ReadonlyMap<string, bigint>): Measurement;

  /**
   * What a pod without a sample is taken to use, in thousandths.
   *
   * @param ratio of the pods that have one; `undefined` is to leave the pod out
   */
  assumedOfMissing(pod: string, ratio: number): bigint | undefined;
}
