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
