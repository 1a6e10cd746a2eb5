import type { CronHpa } from '../cron-hpa.ts';
import type { Hpa } from '../objects/hpa.ts';
import { rivalOf } from '../objects/same-target.ts';
import type { Hindrance } from '../statuses/next-status.ts';

/** What else there is about a target. */
export interface OtherScalers {
  /** The HPA that scales it. */
  readonly hpa: Hpa | undefined;
  /** CronHorizontalPodAutoscalers of the same target, which may be the object itself. */
  readonly others: Iterable<CronHpa>;
}

/** Why nothing may be scaled for an object, whatever is due. */
export function hindranceOf(object: CronHpa, { hpa, others }: OtherScalers): Hindrance | undefined {
  const { kind, name } = object.spec.scaleTargetRef;
  const rival = rivalOf(object, others);
  if (rival) {
    const message = `CronHorizontalPodAutoscaler "${rival.name}" scales ${kind} "${name}", too; neither does until one of both is gone`;
    return { reason: 'TargetConflict', message };
  }
  if (hpa?.controller?.kind !== 'ScaledObject') return undefined;
  const message = `HorizontalPodAutoscaler "${hpa.name}" belongs to ScaledObject "${hpa.controller.name}", which alone changes it`;
  return { reason: 'OwnedByScaledObject', message };
}
