import type { UiPart } from '#lib/ui/page.ts';
import { isReady } from '../api/conditions.ts';
import type { ComposeSource } from './compose-scaled-object.ts';
import type { DebugOptions } from './debug-scaled-objects.ts';

/** ScaledObjects and ScaledJobs on the page: as `/debug/scaled-objects` has them. */
export function scaledObjectsUi(
  source: DebugOptions,
  isWatching: () => boolean,
  composing: ComposeSource,
): UiPart {
  return {
    view: 'scaledobjects',
    title: 'ScaledObjects',
    about: 'ScaledObjects and ScaledJobs (event-driven scaling)',
    summary() {
      let [count, unhealthy, left] = [0, 0, 0];
      const { objects, jobs, kedaDetector } = source;
      for (const [kind, found] of Object.entries({ ScaledObject: objects, ScaledJob: jobs })) {
        for (const object of found.values()) {
          count++;
          if (kedaDetector.evidenceFor(kind, object) !== undefined) left++;
          else if (!isReady(object.status?.conditions)) unhealthy++;
        }
      }
      const absent = isWatching() ? undefined : 'kinds are not served or may not be listed';
      const waiting = absent ?? (left > 0 ? `${left} managed by another operator` : undefined);
      return { count, unhealthy, problem: 'not ready', waiting };
    },
    async render(query) {
      const { renderScaledObjects } = await import('./scaled-objects-page.ts');
      return renderScaledObjects(query, source);
    },
    composer: {
      kind: 'scaledobject',
      title: 'ScaledObject',
      async compose(query, work) {
        const { composeScaledObject } = await import('./compose-scaled-object.ts');
        return await composeScaledObject(query, work, composing);
      },
    },
  };
}
