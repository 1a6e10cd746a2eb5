import type { HorizontalPodAutoscaler } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { ScaledPod } from '#lib/kubernetes/objects/pod.ts';
import type { ScalingState } from './scaling-state.ts';

/**
 * The values read for one metric, or the error.
 *
 * `takenAtMs` is the time of custom and external values, where the API returns it.
 */
export type MetricReading =
  | { readonly podUsage: readonly PodUsage[] }
  | { readonly podValues: readonly PodValue[]; readonly takenAtMs?: number }
  | { readonly value: string; readonly takenAtMs?: number }
  | { readonly values: readonly string[]; readonly takenAtMs?: number }
  | { readonly error: string };

/** A sample of the resource metrics API. */
export interface PodUsage {
  readonly pod: string;
  readonly takenAtMs: number;
  /** Length of the sampled window, which ends at `takenAtMs`. */
  readonly windowMs: number;
  /** Usage as quantities by resource. */
  readonly containers: readonly { readonly name: string; readonly usage: Readonly<Record<string, string>> }[];
}

/** A value of the custom metrics API for a pod. */
export interface PodValue {
  readonly pod: string;
  readonly value: string;
}

/** Flags and feature gates that apply to all HPAs. */
export interface HpaConfig {
  /** Relative deviation from the target that does not scale: `--horizontal-pod-autoscaler-tolerance`. */
  readonly tolerance: number;
  /** Time after its start during which CPU of an unready pod is ignored: `--…-cpu-initialization-period`. */
  readonly cpuInitializationPeriodMs: number;
  /** A pod that became unready within this time of its start was never ready: `--…-initial-readiness-delay`. */
  readonly initialReadinessDelayMs: number;
  /** Window whose highest recommendation applies: `--…-downscale-stabilization`. */
  readonly downscaleStabilizationMs: number;
  /** Limit of one decision for HPAs without `behavior`: `--scale-down-limit-factor`, `--scale-down-limit-minimum`. */
  readonly scaleDownLimit: ScaleDownLimit;
  /** Feature gate HPAConfigurableTolerance. */
  readonly configurableTolerance: boolean;
  /** Feature gate PodLevelResources. */
  readonly podLevelResources: boolean;
  /** Feature gate HPAScaleToZero. */
  readonly scaleToZero: boolean;
}

/**
 * How far one decision may scale down an HPA without `behavior`: to `minimum`, or `factor` × its replicas, whichever is
 * more.
 */
export interface ScaleDownLimit {
  /** From 0 to 1; 0 is no limit. */
  readonly factor: number;
  /** 0 is no limit. */
  readonly minimum: number;
}

/** The defaults of Kubernetes 1.36; a minimum of 0 works, as by default since 1.37. */
export const DEFAULT_HPA_CONFIG: HpaConfig = {
  tolerance: 0.1,
  cpuInitializationPeriodMs: 300_000,
  initialReadinessDelayMs: 30_000,
  downscaleStabilizationMs: 300_000,
  scaleDownLimit: { factor: 0, minimum: 0 },
  configurableTolerance: true,
  podLevelResources: true,
  scaleToZero: true,
};

export interface Scale {
  readonly specReplicas: number;
  readonly statusReplicas: number;
  /** `status.selector` in text form. */
  readonly selector: string;
}

/** Why the scale of a target cannot be read. */
export interface ScaleFailure {
  /** The failed step: parsing the API version, resolving the kind, or getting the scale. */
  readonly step: 'api-version' | 'kind' | 'scale';
  readonly message: string;
}

/** Prefixes a failure as the error of the reconciliation. */
export function scaleError({ step, message }: ScaleFailure, reference: string): string {
  if (step === 'api-version') return `invalid API version in scale target reference: ${message}`;
  if (step === 'kind') return `unable to determine resource for scale target reference: ${message}`;
  return `failed to query scale subresource for ${reference}: ${message}`;
}

/** The inputs of a decision. */
export interface DecisionInput {
  readonly hpa: HorizontalPodAutoscaler;
  readonly scale: Scale | ScaleFailure;
  /** Pods that the scale's selector selects. */
  readonly pods: readonly ScaledPod[];
  /** Why the pods cannot be selected; then there are none. */
  readonly selectionError?: string | undefined;
  /** Other HPAs that select one of the pods, as `namespace/name`. */
  readonly overlapping: readonly string[];
  /** One for each metric of the spec, in order; ignored when `needsMetrics` returns false. */
  readonly readings: readonly MetricReading[];
  readonly memory: ScalingState;
  readonly config: HpaConfig;
  readonly nowMs: number;
}
