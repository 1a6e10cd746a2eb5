import { runAllSteps } from '#lib/concurrency/event-loop.ts';
import type { DecisionInput, MetricReading } from '#lib/hpa/decision/decision-input.ts';

import type { ScalingState } from '#lib/hpa/decision/scaling-state.ts';
import { findOverlappingHpas } from '#lib/hpa/inputs/overlapping-hpas.ts';
import type { HpaStatus, MetricSpec } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { scaledPod } from '#lib/kubernetes/objects/pod.ts';
import { type LabelSelector, parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import type { RecordedCase, RecordedPod } from './recorded-case.ts';
import { recordedReading } from './recorded-reading.ts';

/** The time at which every case is replayed. */
export const NOW_MS = Date.UTC(2026, 0, 15, 12);

/** The time so many seconds earlier. */
export function momentOf(ageSeconds: number): number {
  return NOW_MS - ageSeconds * 1000;
}

/** Builds the inputs that our own controller would have read from the recorded cluster state. */
export function decisionInput(recorded: RecordedCase): DecisionInput {
  const { config, hpa, scale } = recorded;
  const selector = selectorOf(scale.selector);
  const pods = recorded.pods
    .map((pod) => scaledPod(podObject(pod)))
    .filter(({ labels }) => selector?.matches(labels) ?? false);
  return {
    hpa: { metadata: OWN, spec: hpa.spec, ...statusOf(hpa.status) },
    scale: scaleOf(recorded),
    pods,
    overlapping: runAllSteps(findOverlappingHpas(pods, overlappingHpas(recorded))),
    readings: (hpa.spec.metrics ?? []).map((metric) => reading(metric, recorded, selector)),
    memory: memoryOf(recorded),
    config: {
      tolerance: config.tolerance,
      cpuInitializationPeriodMs: config.cpuInitializationPeriodSeconds * 1000,
      initialReadinessDelayMs: config.initialReadinessDelaySeconds * 1000,
      downscaleStabilizationMs: config.downscaleStabilisationSeconds * 1000,
      scaleDownLimit: { factor: 0, minimum: 0 },
      configurableTolerance: config.features?.configurableTolerance ?? false,
      podLevelResources: config.features?.podLevelResources ?? true,
      scaleToZero: config.features?.scaleToZero ?? false,
    },
    nowMs: NOW_MS,
  };
}

const OWN = { name: 'web', namespace: 'default' };

function reading(
  metric: MetricSpec,
  { metrics, pods }: RecordedCase,
  selector: LabelSelector | undefined,
): MetricReading {
  const labels = new Map(pods.map((pod) => [pod.name, pod.labels]));
  return recordedReading(metric, metrics, {
    // A sample without a pod has these labels.
    isSelected: (pod) => selector?.matches(labels.get(pod) ?? { app: 'web' }) ?? false,
    momentOf,
  });
}

/** The kinds of the recorded API server, by API group. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  apps: ['Deployment', 'ReplicaSet', 'StatefulSet'],
  '': ['ReplicationController'],
};

function scaleOf({ hpa, scale }: RecordedCase): DecisionInput['scale'] {
  const { apiVersion = '', kind } = hpa.spec.scaleTargetRef;
  const parts = apiVersion.split('/');
  if (parts.length > 2)
    return { step: 'api-version', message: `unexpected GroupVersion string: ${apiVersion}` };
  const group = parts.length === 2 ? (parts[0] ?? '') : '';
  if (!KINDS[group]?.includes(kind)) {
    return { step: 'kind', message: `no matches for kind "${kind}" in group "${group}"` };
  }
  return scale.getError === undefined ? scale : { step: 'scale', message: scale.getError };
}

function selectorOf(text: string): LabelSelector | undefined {
  try {
    return parseLabelSelector(text);
  } catch {
    return undefined;
  }
}

function overlappingHpas({ otherHpas = [] }: RecordedCase) {
  return otherHpas
    .filter(({ namespace }) => namespace === OWN.namespace)
    .map((other) => ({ ...other, selector: parseLabelSelector(other.selector) }));
}

/** The pod as the API server would return it. */
function podObject(pod: RecordedPod): object {
  const { name, labels, phase, startedAgeSeconds, ready, readyTransitionAgeSeconds } = pod;
  const containersOf = (containers: RecordedPod['containers']) =>
    containers.map(({ requests, ...container }) => ({
      ...container,
      resources: { requests: requests ?? {} },
    }));
  const since = readyTransitionAgeSeconds;
  return {
    metadata: { name, labels, ...(pod.deleting ? { deletionTimestamp: timeOf(1) } : {}) },
    spec: {
      containers: containersOf(pod.containers),
      initContainers: containersOf(pod.initContainers ?? []),
      ...(pod.podLevelRequests ? { resources: { requests: pod.podLevelRequests } } : {}),
      ...(pod.overhead ? { overhead: pod.overhead } : {}),
    },
    status: {
      phase,
      ...(startedAgeSeconds === null ? {} : { startTime: timeOf(startedAgeSeconds) }),
      conditions:
        ready === null
          ? []
          : [
              {
                type: 'Ready',
                status: ready === 'Unknown' ? ready : ready ? 'True' : 'False',
                lastTransitionTime: since === null ? null : timeOf(since),
              },
            ],
    },
  };
}

function statusOf(status: RecordedCase['hpa']['status']): { readonly status?: HpaStatus } {
  if (!status) return {};
  const { lastScaleTimeAgeSeconds, conditions = [], ...others } = status;
  return {
    status: {
      ...others,
      conditions: conditions.map(({ lastTransitionAgeSeconds, ...condition }) => ({
        ...condition,
        ...(lastTransitionAgeSeconds === undefined
          ? {}
          : { lastTransitionTime: timeOf(lastTransitionAgeSeconds) }),
      })),
      ...(lastScaleTimeAgeSeconds === undefined ? {} : { lastScaleTime: timeOf(lastScaleTimeAgeSeconds) }),
    },
  };
}

function memoryOf({ history }: RecordedCase): ScalingState {
  const { recommendations = [], scaleUpEvents = [], scaleDownEvents = [] } = history;
  return {
    recommendations: recommendations.map(({ replicas, ageSeconds }) => ({
      replicas,
      atMs: momentOf(ageSeconds),
    })),
    scaleUpEvents: scaleUpEvents.map(({ change, ageSeconds }) => ({ change, atMs: momentOf(ageSeconds) })),
    scaleDownEvents: scaleDownEvents.map(({ change, ageSeconds }) => ({
      change,
      atMs: momentOf(ageSeconds),
    })),
  };
}

function timeOf(ageSeconds: number): string {
  return new Date(momentOf(ageSeconds)).toISOString();
}
