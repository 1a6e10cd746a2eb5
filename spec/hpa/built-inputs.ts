import { DEFAULT_HPA_CONFIG, type DecisionInput } from '#lib/hpa/decision/decision-input.ts';

import type { PodSamples } from '#lib/hpa/decision/replica-calculator.ts';
import { EMPTY_STATE } from '#lib/hpa/decision/scaling-state.ts';
import type { HpaSpec } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { ScaledPod } from '#lib/kubernetes/objects/pod.ts';

/** The time of the decisions. */
export const NOW_MS = Date.UTC(2026, 0, 1);

/** A pod that has been running and ready for an hour, with changes. */
export function builtPod(name: string, changes: Partial<ScaledPod> = {}): ScaledPod {
  return {
    name,
    labels: { app: 'web' },
    phase: 'Running',
    isDeleting: false,
    startedAtMs: NOW_MS - 3_600_000,
    ready: { status: 'True', changedAtMs: NOW_MS - 3_590_000 },
    containers: [{ name: 'app', requests: { cpu: '100m', memory: '100Mi' } }],
    initContainers: [],
    podRequests: {},
    overhead: {},
    ...changes,
  };
}

/** Samples of thousandths by pod, taken 20 s ago over 30 s. */
export function builtSamples(values: Readonly<Record<string, number>>): PodSamples {
  return new Map(
    Object.entries(values).map(([pod, thousandths]) => [
      pod,
      { thousandths: BigInt(thousandths), takenAtMs: NOW_MS - 20_000, windowMs: 30_000 },
    ]),
  );
}

/** An HPA of 1 to 10 replicas by an external metric with a target of 10 per replica; 3 replicas, 30 in total. */
export function builtInput(
  changes: Partial<DecisionInput> & { readonly spec?: Partial<HpaSpec> } = {},
): DecisionInput {
  const { spec, ...others } = changes;
  return {
    hpa: {
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        minReplicas: 1,
        maxReplicas: 10,
        metrics: [
          {
            type: 'External',
            external: { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '10' } },
          },
        ],
        ...spec,
      },
    },
    scale: { specReplicas: 3, statusReplicas: 3, selector: 'app=web' },
    pods: [builtPod('web-0'), builtPod('web-1'), builtPod('web-2')],
    overlapping: [],
    readings: [{ values: ['30'] }],
    memory: EMPTY_STATE,
    config: DEFAULT_HPA_CONFIG,
    nowMs: NOW_MS,
    ...others,
  };
}
