import type { UiPart } from '#lib/ui/page.ts';
import type { DebuggedCronHpas } from './debug-cron-hpas.ts';

/** The view of Cron-HPAs, with the data of `/debug/cronhpas`. */
export function cronHpaUi(cronHpas: DebuggedCronHpas): UiPart {
  return {
    view: 'cronhpas',
    title: 'Cron-HPAs',
    about: 'CronHorizontalPodAutoscalers: scaling by schedule',
    summary() {
      let [count, unhealthy] = [0, 0];
      for (const { status } of cronHpas.values()) {
        count++;
        if (status.ready?.status !== 'True') unhealthy++;
      }
      return { count, unhealthy, problem: 'not ready' };
    },
    async render(query) {
      const { renderCronHpas } = await import('./cron-hpa-page.ts');
      return renderCronHpas(query, cronHpas);
    },
    composer: {
      kind: 'cronhpa',
      title: 'Cron-HPA',
      async compose(query, work) {
        const { composeCronHpa } = await import('./compose-cron-hpa.ts');
        return await composeCronHpa(query, work, cronHpas);
      },
    },
  };
}
