import {
  decimal,
  duration,
  type FlagValues,
  flag,
  integer,
  notNegative,
  oneOf,
  positive,
  text,
  texts,
} from '#lib/flags/flag.ts';
import type { HpaLoopOptions } from '#lib/hpa/hpa-controller.ts';
import { AUTO_MIN_MODES, AUTO_MIN_REPLICAS } from '#lib/hpa/min-replicas/auto-min-settings.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { messageOf } from '#lib/telemetry/error-text.ts';
import type { generalFlags } from './general-flags.ts';

/** Converts the flags. */
export function hpaOptionsOf(values: FlagValues<typeof hpaFlags & typeof generalFlags>): HpaLoopOptions {
  const { HPAConfigurableTolerance, HPAScaleToZero, PodLevelResources } = hpaFeatureGates(
    values.hpaFeatureGates,
  );
  return {
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
      scaleDownLimit: { factor: values.scaleDownLimitFactor, minimum: values.scaleDownLimitMinimum },
      configurableTolerance: HPAConfigurableTolerance,
      podLevelResources: PodLevelResources,
      scaleToZero: HPAScaleToZero,
    },
  };
}

/** The feature gates of Kubernetes' HPA controller that change decisions, with their defaults. */
const HPA_FEATURE_GATES = {
  HPAConfigurableTolerance: true,
  HPAScaleToZero: true,
  PodLevelResources: true,
} as const;

type HpaFeatureGate = keyof typeof HPA_FEATURE_GATES;

/** Flags of the HPA controller, with the names and defaults of kube-controller-manager. */
export const hpaFlags = {
  hpaSyncPeriodMs: flag('horizontal-pod-autoscaler-sync-period', duration, {
    default: 15_000,
    description:
      'How often a HorizontalPodAutoscaler is evaluated, unless its annotation platform.stke/resync-period sets another period.',
    validate: (periodMs) => (periodMs >= 1000 ? undefined : 'must be at least 1s'),
  }),
  hpaDownscaleStabilizationMs: flag('horizontal-pod-autoscaler-downscale-stabilization', duration, {
    default: 300_000,
    description:
      'Stabilization window for scaling down, within which the highest recommendation is used. Applies to HPAs whose behavior sets no window.',
    validate: notNegative,
  }),
  scaleDownLimitFactor: flag('scale-down-limit-factor', decimal, {
    default: 0,
    description:
      'Minimum share of the current replicas, rounded down, to which one decision scales down. Applies to HPAs without behavior. 0 means no limit.',
    validate: (factor) => (factor >= 0 && factor <= 1 ? undefined : 'must be from 0 to 1'),
  }),
  scaleDownLimitMinimum: flag('scale-down-limit-minimum', integer, {
    default: 0,
    description:
      'Minimum number of replicas to which one decision scales down. Applies to HPAs without behavior. If --scale-down-limit-factor results in more replicas, that number applies. 0 means no limit.',
    validate: notNegative,
  }),
  hpaTolerance: flag('horizontal-pod-autoscaler-tolerance', decimal, {
    default: 0.1,
    description: 'Relative deviation of a metric from its target up to which the replicas do not change.',
    validate: notNegative,
  }),
  hpaCpuInitializationPeriodMs: flag('horizontal-pod-autoscaler-cpu-initialization-period', duration, {
    default: 300_000,
    description: 'Time after the start of a pod during which its CPU may be ignored.',
    validate: notNegative,
  }),
  hpaInitialReadinessDelayMs: flag('horizontal-pod-autoscaler-initial-readiness-delay', duration, {
    default: 30_000,
    description:
      'A pod that is not ready counts as starting if its readiness last changed within this time after its start.',
    validate: notNegative,
  }),
  concurrentHpaSyncs: flag('concurrent-horizontal-pod-autoscaler-syncs', integer, {
    default: 5,
    description: 'Concurrent reconciliations of HorizontalPodAutoscalers.',
    validate: positive,
  }),
  hpaFeatureGates: flag('feature-gates', texts, {
    default: [],
    description: `Feature gates of Kubernetes that change decisions, as NAME=true or NAME=false: ${Object.entries(
      HPA_FEATURE_GATES,
    )
      .map(([name, isOn]) => `${name} (${isOn} by default)`)
      .join(', ')}.`,
    validate: (gates) => {
      const wrong = gates.find((gate) => readGate(gate) === undefined);
      return wrong === undefined
        ? undefined
        : `${JSON.stringify(wrong)} must be one of ${Object.keys(HPA_FEATURE_GATES).join(', ')}, with =true or =false`;
    },
  }),
  hpaSelector: flag('hpa-selector', text, {
    default: '',
    description: 'Label selector of the HorizontalPodAutoscalers to manage. By default, all are managed.',
    validate: (selector) => {
      try {
        parseLabelSelector(selector);
        return undefined;
      } catch (error) {
        return `must be a label selector: ${messageOf(error)}`;
      }
    },
  }),
  autoMinReplicas: flag('auto-min-replicas', oneOf(...AUTO_MIN_MODES), {
    default: 'recommend',
    description:
      'Automatic minReplicas, computed from the load of the last seven days, for HPAs without the annotation ' +
      `${AUTO_MIN_REPLICAS}: with "recommend", an event is emitted once a day; with "apply", the HPA is changed; with "never", nothing happens.`,
  }),
  autoMinReplicasWeights: flag('auto-min-replicas-weights', texts, {
    default: ['7', '6', '5', '4', '3', '2', '1'],
    description: 'Weights of the seven daily peaks that automatic minReplicas averages, latest day first.',
    validate: (weights) =>
      weights.length === 7 &&
      weights.every((weight, index) => isWeight(weight) && isNotAbove(weight, weights[index - 1]))
        ? undefined
        : 'must be seven numbers above 0 in descending order',
  }),
};

/** The state of each feature gate. */
function hpaFeatureGates(gates: readonly string[]): Readonly<Record<HpaFeatureGate, boolean>> {
  return { ...HPA_FEATURE_GATES, ...Object.fromEntries(gates.flatMap((gate) => [readGate(gate) ?? []])) };
}

function readGate(gate: string): readonly [HpaFeatureGate, boolean] | undefined {
  const [name = '', value, ...rest] = gate.split('=');
  const isSupported = Object.hasOwn(HPA_FEATURE_GATES, name) && rest.length === 0;
  if (!isSupported || (value !== 'true' && value !== 'false')) return undefined;
  return [name as HpaFeatureGate, value === 'true'];
}

function isWeight(text: string): boolean {
  return /^\d{1,9}(\.\d{1,9})?$/.test(text) && Number(text) > 0;
}

function isNotAbove(text: string, before: string | undefined): boolean {
  return before === undefined || Number(text) <= Number(before);
}
