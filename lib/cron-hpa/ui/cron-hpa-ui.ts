import type { UiPart } from '#lib/ui/ui-part.ts';
import type { DebuggedCronHpas } from '../debug/debug-cron-hpas.ts';

/** Cron-HPAs on the page: as `/debug/cronhpas` has them. */
export function cronHpaUi(known: DebuggedCronHpas): UiPart {
  return {
    view: 'cronhpas',
    title: 'Cron-HPAs',
    about: 'CronHorizontalPodAutoscalers, which scale by the clock',
    summary() {
      let [count, troubled] = [0, 0];
      for (const { status } of known.values()) {
        count++;
        if (status.ready?.status !== 'True') troubled++;
      }
      return { count, troubled, trouble: 'not ready' };
    },
    async render(query) {
      const { renderCronHpas } = await import('./render-cron-hpas.ts');
      return renderCronHpas(query, known);
    },
  };
}
