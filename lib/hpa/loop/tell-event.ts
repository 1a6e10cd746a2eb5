import type { ToldEvent } from '#lib/control/event.ts';
import type { EventRecorder } from '#lib/control/event-recorder.ts';
import type { FollowedHpa } from '#lib/kubernetes/objects/hpa-versions.ts';

/** Tells an event of an HPA, unless nothing is to be changed. */
export function tell(
  { metadata }: FollowedHpa,
  {
    events,
    options,
  }: {
    readonly events: Pick<EventRecorder, 'record'>;
    readonly options: { readonly isDryRun: boolean };
  },
  event: ToldEvent,
): void {
  if (options.isDryRun) return;
  const { namespace, name, uid, resourceVersion } = metadata;
  const regarding = {
    ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', namespace, name, uid },
    resourceVersion,
  };
  events.record({ regarding, action: 'Scale', ...event });
}
