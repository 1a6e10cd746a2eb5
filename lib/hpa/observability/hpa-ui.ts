import type { UiPart } from '#lib/ui/page.ts';
import type { AutoMinLog } from '../min-replicas/min-replicas-report.ts';
import type { DecisionLog, HpaDecisions } from './decision-log.ts';

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
      let unhealthy = 0;
      for (const one of source.decisions.values()) if (troubleOf(one)) unhealthy++;
      return { count: source.decisions.size, unhealthy, problem: 'failing or left alone' };
    },
  };
}

/** Why an HPA does not do what it is meant to, in a word or two: `metric missing`. */
interface HpaTrouble {
  readonly state: 'failing' | 'waiting';
  readonly word: string;
}

/** Steps that end without a look at metrics, because something is wrong. */
const FAILING_STEPS: ReadonlyMap<string, string> = new Map([
  ['no-scale', 'no scale'],
  ['unclear-pods', 'unclear pods'],
]);

/** What is wrong with an HPA, as its latest decision tells; `undefined` where it is well. */
export function troubleOf({ decisions, missingSinceMs, other }: HpaDecisions): HpaTrouble | undefined {
  if (other) return { state: 'waiting', word: 'left alone' };
  if (missingSinceMs !== undefined) return { state: 'failing', word: 'metric missing' };
  const { step = '', error } = decisions.at(-1) ?? {};
  const word = FAILING_STEPS.get(step) ?? (error === undefined ? undefined : 'not scaled');
  return word === undefined ? undefined : { state: 'failing', word };
}
