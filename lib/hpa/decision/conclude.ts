import type { EventText } from '#lib/control/event-recorder.ts';
import {
  type HorizontalPodAutoscaler,
  type HpaStatus,
  isSameStatus,
  targetOf,
} from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { formatTimestamp } from '#lib/time/timestamp.ts';
import type { Decision, Outcome } from './decision.ts';
import { type ConditionChange, type ConditionRemoval, changeConditions } from './hpa-conditions.ts';
import { recordScaling } from './scaling-state.ts';

/**
 * Returns status, events, error and state of a decision after the scale was written, or did not have to be.
 *
 * @param updateError why the scale could not be written
 */
export function conclude(
  decision: Decision,
  hpa: HorizontalPodAutoscaler,
  { nowMs, updateError }: { readonly nowMs: number; readonly updateError?: string },
): Outcome {
  const { scaleTo, status: decided, memory, explanation } = decision;
  const written = scaleTo !== undefined && updateError === undefined ? scaleTo : undefined;
  const attempt = scaleTo === undefined ? undefined : attemptOf(decision, scaleTo, { hpa, updateError });
  const now = formatTimestamp(nowMs);
  const before: HpaStatus = hpa.status ?? { desiredReplicas: 0 };
  const conditions = changeConditions(
    before.conditions ?? [],
    attempt ? [...decision.conditions, ...attempt.conditions] : decision.conditions,
    nowMs,
  );
  const status = !decided
    ? { ...before, conditions }
    : {
        currentReplicas: decided.currentReplicas,
        desiredReplicas:
          (updateError === undefined ? decided.desiredReplicas : undefined) ?? before.desiredReplicas,
        ...lastScaleTime(written === undefined ? before.lastScaleTime : now),
        currentMetrics: decided.currentMetrics,
        conditions,
      };
  return {
    desiredReplicas: written,
    status,
    isStatusChanged: !isSameStatus(hpa.status, status),
    events: attempt ? [...decision.events, attempt.event] : decision.events,
    error: attempt?.error ?? decision.error,
    memory:
      written === undefined || !decided
        ? memory
        : recordScaling(
            memory,
            { from: decided.currentReplicas, to: written },
            { behavior: hpa.spec.behavior, nowMs },
          ),
    explanation,
  };
}

function lastScaleTime(time: string | undefined): Pick<HpaStatus, 'lastScaleTime'> {
  return time === undefined ? {} : { lastScaleTime: time };
}

interface Attempt {
  readonly conditions: readonly (ConditionChange | ConditionRemoval)[];
  readonly event: EventText;
  readonly error?: string;
}

/** The condition and event of writing the scale. */
function attemptOf(
  { scaleReason, scaledToZero }: Decision,
  replicas: number,
  {
    hpa,
    updateError: error,
  }: { readonly hpa: HorizontalPodAutoscaler; readonly updateError: string | undefined },
): Attempt {
  const size = `New size: ${replicas}; reason: ${scaleReason}`;
  if (error === undefined) {
    return {
      conditions: [
        {
          type: 'AbleToScale',
          isTrue: true,
          reason: 'SucceededRescale',
          message: `the HPA controller was able to update the target scale to ${replicas}`,
        },
        ...(scaledToZero ? [scaledToZero] : []),
      ],
      event: { type: 'Normal', reason: 'SuccessfulRescale', message: size },
    };
  }
  return {
    conditions: [
      {
        type: 'AbleToScale',
        isTrue: false,
        reason: 'FailedUpdateScale',
        message: `the HPA controller was unable to update the target scale: ${error}`,
      },
    ],
    event: { type: 'Warning', reason: 'FailedRescale', message: `${size}; error: ${error}` },
    error: `failed to rescale ${targetOf(hpa)}: ${error}`,
  };
}
