import type { UiPart } from '#lib/ui/page.ts';
import type { DebuggedCronHpas } from './debug-cron-hpas.ts';

/** The part of the page that shows Cron-HPAs. */
export type CronHpaUiPart = UiPart<'cronhpas', DebuggedCronHpas>;

/** Cron-HPAs on the page: as `/debug/cronhpas` has them. */
export function cronHpaUi(known: DebuggedCronHpas): CronHpaUiPart {
  return {
    view: 'cronhpas',
    title: 'Cron-HPAs',
    about: 'CronHorizontalPodAutoscalers, which scale by the clock',
    source: known,
    summary() {
      let [count, unhealthy] = [0, 0];
      for (const { status } of known.values()) {
        count++;
        if (status.ready?.status !== 'True') unhealthy++;
      }
      return { count, unhealthy, problem: 'not ready' };
    },
  };
}
