import type { UiPart } from '#lib/ui/page.ts';
import { troubleOf } from './hpa-trouble.ts';
import type { HpaUiSource } from './render-hpas.ts';

/** The part of the page that shows HPAs. */
export type HpaUiPart = UiPart<'hpas', HpaUiSource>;

/** HPAs on the page: what was decided of each last, and of one the whole calculation, drawn over time. */
export function hpaUi(source: HpaUiSource): HpaUiPart {
  return {
    view: 'hpas',
    title: 'HPAs',
    about: 'HorizontalPodAutoscalers that this replica decides, by metrics',
    source,
    summary() {
      let unhealthy = 0;
      for (const one of source.decisions.values()) if (troubleOf(one)) unhealthy++;
      return { count: source.decisions.size, unhealthy, problem: 'failing or left alone' };
    },
    async render(query) {
      const { renderHpas } = await import('./render-hpas.ts');
      return renderHpas(query, source);
    },
  };
}
