import type { UiPart } from '#lib/ui/ui-part.ts';
import type { ObjectCondition } from '../objects/scaled-object.ts';
import type { DebugOptions } from '../told/debug-scaled-objects.ts';

/** The part of the page that shows ScaledObjects and ScaledJobs. */
export type ScaledObjectsUiPart = UiPart<'scaledobjects', DebugOptions>;

/** ScaledObjects and ScaledJobs on the page: as `/debug/scaled-objects` has them. */
export function scaledObjectsUi(source: DebugOptions): ScaledObjectsUiPart {
  return {
    view: 'scaledobjects',
    title: 'ScaledObjects',
    about: 'ScaledObjects and ScaledJobs, which scale by events',
    source,
    summary() {
      let [count, troubled] = [0, 0];
      for (const objects of [source.objects, source.jobs]) {
        for (const { status } of objects.values()) {
          count++;
          if (!isReady(status?.conditions)) troubled++;
        }
      }
      return { count, troubled, trouble: 'not ready' };
    },
  };
}

/** Whether an object does what it is meant to do. */
export function isReady(conditions: readonly ObjectCondition[] = []): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
