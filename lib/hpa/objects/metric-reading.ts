/**
 * What was read for one metric of an HPA before deciding: values, or why there are none.
 *
 * `takenAtMs` is when values of the custom and external APIs were taken, where they say so.
 */
export type MetricReading =
  | { readonly podUsage: readonly PodUsage[] }
  | { readonly podValues: readonly PodValue[]; readonly takenAtMs?: number }
  | { readonly value: string; readonly takenAtMs?: number }
  | { readonly values: readonly string[]; readonly takenAtMs?: number }
  | { readonly error: string };

/** A sample of the resource metrics API: what a pod's containers used. */
export interface PodUsage {
  readonly pod: string;
  readonly takenAtMs: number;
  /** How long the sample covers, ending at `takenAtMs`. */
  readonly windowMs: number;
  /** Quantities by resource. */
  readonly containers: readonly { readonly name: string; readonly usage: Readonly<Record<string, string>> }[];
}

/** A value of the custom metrics API that describes a pod. */
export interface PodValue {
  readonly pod: string;
  readonly value: string;
}
