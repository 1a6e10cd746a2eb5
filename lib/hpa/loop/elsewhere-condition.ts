import { objectTime } from '#lib/control/status/conditions.ts';
import type { HpaCondition, HpaStatus } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { FollowedHpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { HpaEvent } from '../decision.ts';
import type { OtherController } from '../told/decision-log.ts';

/** The condition of an HPA that another controller acts on. */
const CONTROLLED_ELSEWHERE = 'ControlledElsewhere';

/** Says that another controller acts on an HPA, and that this one does not while it does. */
export function actedOnElsewhere(
  { status }: FollowedHpa,
  { manager }: OtherController,
  { nowMs, periodMs }: { readonly nowMs: number; readonly periodMs: number },
): { readonly status: HpaStatus; readonly event: HpaEvent } {
  const message = `"${manager}" writes the status of this HPA, too, so this controller leaves it alone until that has not happened for ${formatDuration(3 * periodMs)}; switch one of both off`;
  const before: HpaStatus = status ?? { desiredReplicas: 0 };
  const conditions = before.conditions ?? [];
  const earlier = conditions.find(({ type }) => type === CONTROLLED_ELSEWHERE);
  const condition: HpaCondition = {
    type: CONTROLLED_ELSEWHERE,
    status: 'True',
    lastTransitionTime: earlier?.lastTransitionTime ?? objectTime(nowMs),
    reason: 'AnotherControllerActs',
    message,
  };
  return {
    status: { ...before, conditions: [...conditions.filter((one) => one !== earlier), condition] },
    event: { type: 'Warning', reason: 'AnotherControllerActs', message },
  };
}

/** The HPA without that condition, as it is while nobody else acts. */
export function withoutElsewhere(hpa: FollowedHpa): FollowedHpa {
  const { status } = hpa;
  if (!status?.conditions?.some(({ type }) => type === CONTROLLED_ELSEWHERE)) return hpa;
  const conditions = status.conditions.filter(({ type }) => type !== CONTROLLED_ELSEWHERE);
  return { ...hpa, status: { ...status, conditions } };
}
