import type { FlagValues } from '#lib/flags/flag.ts';
import type { HpaLoopOptions } from '#lib/hpa/hpa-controller.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import type { generalFlags } from './general-flags.ts';
import { hpaFeatureGates, type hpaFlags } from './hpa-flags.ts';

/** How HorizontalPodAutoscalers are decided. */
export interface HpaOptions {
  readonly options: HpaLoopOptions;
}

/** What flags say of that. */
export function hpaOptionsOf(values: FlagValues<typeof hpaFlags & typeof generalFlags>): HpaOptions {
  const { HPAConfigurableTolerance, HPAScaleToZero, PodLevelResources } = hpaFeatureGates(
    values.hpaFeatureGates,
  );
  return {
    options: {
      concurrentSyncs: values.concurrentHpaSyncs,
      syncPeriodMs: values.hpaSyncPeriodMs,
      selector: parseLabelSelector(values.hpaSelector),
      isDryRun: values.dryRun,
      autoMin: { mode: values.autoMinReplicas, weights: values.autoMinReplicasWeights.map(Number) },
      config: {
        tolerance: values.hpaTolerance,
        cpuInitializationPeriodMs: values.hpaCpuInitializationPeriodMs,
        initialReadinessDelayMs: values.hpaInitialReadinessDelayMs,
        downscaleStabilizationMs: values.hpaDownscaleStabilizationMs,
        configurableTolerance: HPAConfigurableTolerance,
        podLevelResources: PodLevelResources,
        scaleToZero: HPAScaleToZero,
      },
    },
  };
}
