import type { HorizontalPodAutoscaler } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { ScaledPod } from '#lib/kubernetes/objects/pod.ts';
import type { HpaMemory } from './scaling-state.ts';

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

/** What flags and feature gates of the controller say about every HPA. */
export interface HpaConfig {
  /** By how much of its target a metric may be off before it scales: `--horizontal-pod-autoscaler-tolerance`. */
  readonly tolerance: number;
  /** How long CPU of a pod that is not ready yet is ignored: `--…-cpu-initialization-period`. */
  readonly cpuInitializationPeriodMs: number;
  /** Within which of its start a pod that became unready was never ready: `--…-initial-readiness-delay`. */
  readonly initialReadinessDelayMs: number;
  /** Within which the highest recommendation holds: `--…-downscale-stabilization`. */
  readonly downscaleStabilizationMs: number;
  /** Feature gate HPAConfigurableTolerance. */
  readonly configurableTolerance: boolean;
  /** Feature gate PodLevelResources. */
  readonly podLevelResources: boolean;
  /** Feature gate HPAScaleToZero. */
  readonly scaleToZero: boolean;
}

/** The defaults of Kubernetes 1.36; a minimum of 0 works, as by default since 1.37. */
export const DEFAULT_HPA_CONFIG: HpaConfig = {
  tolerance: 0.1,
  cpuInitializationPeriodMs: 300_000,
  initialReadinessDelayMs: 30_000,
  downscaleStabilizationMs: 300_000,
  configurableTolerance: false,
  podLevelResources: true,
  scaleToZero: true,
};

/** What the scale subresource of an HPA's target says. */
export interface Scale {
  readonly specReplicas: number;
  readonly statusReplicas: number;
  /** `status.selector`, as text. */
  readonly selector: string;
}

/** Why the scale of a target is not known. */
export interface ScaleFailure {
  /** What failed: reading the API version, finding the kind, or asking for the scale. */
  readonly step: 'api-version' | 'kind' | 'scale';
  readonly message: string;
}

/** Puts before a failure what the reconcile reports. */
export function scaleError({ step, message }: ScaleFailure, reference: string): string {
  if (step === 'api-version') return `invalid API version in scale target reference: ${message}`;
  if (step === 'kind') return `unable to determine resource for scale target reference: ${message}`;
  return `failed to query scale subresource for ${reference}: ${message}`;
}

/** Everything that a decision follows from. */
export interface DecisionInput {
  readonly hpa: HorizontalPodAutoscaler;
  readonly scale: Scale | ScaleFailure;
  /** Those that the scale's selector selects. */
  readonly pods: readonly ScaledPod[];
  /** Other HPAs that select one of the pods, as `namespace/name`. */
  readonly rivals: readonly string[];
  /** One for each metric of the spec, in its order; not looked at where `needsMetrics` says no. */
  readonly readings: readonly MetricReading[];
  readonly memory: HpaMemory;
  readonly config: HpaConfig;
  readonly nowMs: number;
}
