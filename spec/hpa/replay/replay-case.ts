import { conclude } from '#lib/hpa/decision/conclude.ts';
import { decide } from '#lib/hpa/decision/decide.ts';
import type { Outcome } from '#lib/hpa/decision/decision.ts';
import type { ScalingState } from '#lib/hpa/decision/scaling-state.ts';
import type { RecordedCase, RecordedOutcome } from './recorded-case.ts';
import { decisionInput, NOW_MS } from './recorded-inputs.ts';

/** Runs our own controller on a recorded case. */
export function replayCase(recorded: RecordedCase): {
  readonly outcome: RecordedOutcome;
  readonly explanation: Outcome['explanation'];
} {
  const input = decisionInput(recorded);
  const outcome = conclude(decide(input), input.hpa, { nowMs: NOW_MS, ...updateError(recorded) });
  const { status } = outcome;
  return {
    explanation: outcome.explanation,
    outcome: {
      desiredReplicas: outcome.desiredReplicas ?? null,
      status: {
        currentReplicas: status.currentReplicas ?? 0,
        desiredReplicas: status.desiredReplicas,
        currentMetrics: status.currentMetrics ?? null,
        conditions: (status.conditions ?? []).map(({ lastTransitionTime: _, ...condition }) => condition),
      },
      statusWritten: outcome.isStatusChanged,
      lastScaleTimeSet: status.lastScaleTime !== input.hpa.status?.lastScaleTime,
      events: outcome.events,
      ...(outcome.error === undefined ? {} : { error: outcome.error }),
      historyAfter: historyOf(outcome.memory),
    },
  };
}

/** The maximum attempts of a write that is rejected as a conflict. */
const WRITES = 5;

function updateError({ scale }: RecordedCase): { readonly updateError?: string } {
  if (scale.updateError !== undefined) return { updateError: scale.updateError };
  if ((scale.updateConflicts ?? 0) < WRITES) return {};
  return {
    updateError: 'Operation cannot be fulfilled on deployments.apps "web": the object has been modified',
  };
}

function historyOf({ recommendations, scaleUpEvents, scaleDownEvents }: ScalingState) {
  const ageSeconds = (atMs: number) => (NOW_MS - atMs) / 1000;
  return {
    recommendations: recommendations.map(({ replicas, atMs }) => ({
      replicas,
      ageSeconds: ageSeconds(atMs),
    })),
    scaleUpEvents: scaleUpEvents.map(({ change, atMs }) => ({ change, ageSeconds: ageSeconds(atMs) })),
    scaleDownEvents: scaleDownEvents.map(({ change, atMs }) => ({ change, ageSeconds: ageSeconds(atMs) })),
  };
}
