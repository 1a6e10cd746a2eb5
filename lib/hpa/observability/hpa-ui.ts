import type { UiPart } from '#lib/ui/page.ts';
import type { ComparedHpas } from '../explain/compose-hpa.ts';
import type { HpaUiSource } from './hpa-page.ts';
import { findProblem } from './hpa-problem.ts';

/** The view of HPAs: their latest decisions, and the calculation and charts of one HPA. */
export function hpaUi(source: HpaUiSource & { readonly hpas: ComparedHpas }): UiPart {
  return {
    view: 'hpas',
    title: 'HPAs',
    about: 'HorizontalPodAutoscalers that this replica manages',
    summary() {
      let unhealthy = 0;
      for (const one of source.decisions.values()) if (findProblem(one)) unhealthy++;
      return { count: source.decisions.size, unhealthy, problem: 'failing or not managed' };
    },
    async render(query) {
      const { renderHpas } = await import('./hpa-page.ts');
      return renderHpas(query, source);
    },
    composer: {
      kind: 'hpa',
      title: 'HPA',
      async compose(query, work) {
        const { composeHpa } = await import('../explain/compose-hpa.ts');
        return await composeHpa(query, work, source.hpas);
      },
    },
  };
}
