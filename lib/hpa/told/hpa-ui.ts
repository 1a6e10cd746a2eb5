import type { UiPart } from '#lib/ui/page.ts';
import type { AutoMinLog } from '../min-replicas/min-replicas-report.ts';
import type { DecisionLog } from '../observability/decision-log.ts';
import { troubleOf } from './trouble-of.ts';

/** What there is to show of HPAs. */
export interface HpaUiSource {
  readonly decisions: DecisionLog;
  readonly autoMin: Pick<AutoMinLog, 'find'>;
  nowMs(): number;
}

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
      let troubled = 0;
      for (const one of source.decisions.values()) if (troubleOf(one)) troubled++;
      return { count: source.decisions.size, troubled, trouble: 'failing or left alone' };
    },
  };
}
