import type { UiPart } from '#lib/ui/ui-part.ts';
import type { ObjectCondition } from '../objects/scaled-object.ts';
import type { DebugOptions } from '../told/debug-scaled-objects.ts';

/** ScaledObjects and ScaledJobs on the page: as `/debug/scaled-objects` has them. */
export function scaledObjectsUi(source: DebugOptions): UiPart {
  return {
    view: 'scaledobjects',
    title: 'ScaledObjects',
    about: 'ScaledObjects and ScaledJobs, which scale by events',
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
    async render(query) {
      const { renderScaledObjects } = await import('./render-scaled-objects.ts');
      return renderScaledObjects(query, source);
    },
  };
}

/** Whether an object does what it is meant to do. */
export function isReady(conditions: readonly ObjectCondition[] = []): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
