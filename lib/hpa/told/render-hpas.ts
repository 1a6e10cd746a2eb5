import { notFound } from '#lib/apiserver/http/status-error.ts';
import { printableLines } from '#lib/telemetry/printable.ts';
import { type Html, type HtmlPart, html } from '#lib/ui/html.ts';
import { breadcrumbs, objectList } from '#lib/ui/object-list.ts';
import { isListed, objectLink, type PageQuery, pageAddress } from '#lib/ui/page-query.ts';
import { ago, lasting } from '#lib/ui/relative-time.ts';
import { type Column, type Row, stateWord } from '#lib/ui/table.ts';
import { hpaText } from '../observability/debug-hpa.ts';
import { type HpaDecisions, type LoggedDecision, shortened } from '../observability/decision-log.ts';
import { type HpaUiSource, troubleOf } from '../observability/hpa-ui.ts';
import { hpaCharts } from './hpa-charts.ts';

const HPAS = { group: 'autoscaling', resource: 'horizontalpodautoscalers' };
const COLUMNS: readonly Column[] = [
  { title: 'State' },
  { title: 'Namespace', className: 'faint' },
  { title: 'HPA', className: 'name' },
  { title: 'Replicas', className: 'number' },
  { title: 'Metrics ask for', className: 'number' },
  { title: 'Bounds', className: 'number' },
  { title: 'Leading metric', className: 'text' },
  { title: 'Decided', className: 'number' },
];

/** In a list; the page of the HPA has more of it. */
const LONGEST_NAME = 100;
const LONGEST_NOTE = 300;

/** The list of HPAs, those in trouble first; one by namespace and name in full. */
export function renderHpas(query: PageQuery, source: HpaUiSource): Html {
  if (query.namespace !== '' && query.name !== '') return renderHpa(query, source);
  const listed = [...source.decisions.values()].filter(({ namespace, name }) =>
    isListed(query, namespace, name),
  );
  const isTroubled = (one: HpaDecisions) => troubleOf(one) !== undefined;
  const none = 'None has been decided here: only the replica that leads decides HPAs.';
  const rowOf = (one: HpaDecisions) => hpaRow(one, query, source.nowMs());
  const list = { title: 'HorizontalPodAutoscalers', columns: COLUMNS, listed, isTroubled, rowOf, none };
  return objectList(list, query);
}

function hpaRow(one: HpaDecisions, query: PageQuery, nowMs: number): Row {
  const { namespace, name, explanation, decisions, atMaxSinceMs } = one;
  const latest = decisions.at(-1);
  const address = pageAddress({ view: query.view, namespace, name, isStill: query.isStill });
  const leading =
    explanation?.leadingMetric === undefined ? undefined : explanation.metrics[explanation.leadingMetric];
  const { currentReplicas, desiredReplicas } = latest ?? {};
  const replicas =
    currentReplicas === desiredReplicas
      ? `${currentReplicas ?? '?'}`
      : `${currentReplicas ?? '?'} → ${desiredReplicas ?? '?'}`;
  const trouble = troubleOf(one);
  return {
    ...(trouble && { state: trouble.state, note: noteOn(one, nowMs) }),
    cells: [
      trouble
        ? stateWord(trouble.state, trouble.word)
        : atMaxSinceMs !== undefined
          ? html`${stateWord('waiting', 'at maximum')}`
          : stateWord('served', wordOf(latest)),
      namespace,
      html`<a href="${address}">${name}</a>`,
      replicas,
      latest?.proposedReplicas ?? '–',
      explanation ? `${explanation.minReplicas} to ${explanation.maxReplicas}` : '–',
      leading
        ? html`${shortened(leading.name, LONGEST_NAME)}${leading.proposal && ` at ${Math.round(leading.proposal.ratio * 100)}% of its target`}`
        : '–',
      latest ? ago(latest.atMs, nowMs) : '–',
    ],
  };
}

/** Why an HPA is in trouble. */
function noteOn({ explanation, decisions, missingSinceMs, other }: HpaDecisions, nowMs: number): HtmlPart {
  if (other)
    return html`"${shortened(other.manager, LONGEST_NAME)}" acted on it ${ago(other.writtenAtMs, nowMs)}`;
  const failed = explanation?.metrics.find(({ failure }) => failure !== undefined);
  const why = failed ? `${failed.name}: ${failed.failure?.message}` : decisions.at(-1)?.error;
  if (why === undefined) return undefined;
  return html`${shortened(why, LONGEST_NOTE)}${missingSinceMs !== undefined && html` (${lasting(missingSinceMs, nowMs)})`}`;
}

function renderHpa(query: PageQuery, { decisions, autoMin }: HpaUiSource): Html {
  const { namespace, name } = query;
  const key = `${namespace}/${name}`;
  const found = decisions.find(key);
  if (!found) throw notFound(HPAS, key);
  return html`${breadcrumbs(query, 'HPAs')}
<section>
<div class="charts">${hpaCharts(found)}</div>
</section>
<section>
<div class="bar"><h2>Why</h2>${objectLink(query, { view: 'metrics', namespace, name, text: 'how its metrics are collected' })}</div>
<pre class="why">${printableLines(hpaText(found, autoMin.find(key)))}</pre>
</section>`;
}

/** What came of a decision, in a word. */
function wordOf(decision: LoggedDecision | undefined): string {
  if (!decision) return 'not decided yet';
  if (decision.isScaled) return 'scaled';
  return decision.step === 'metrics' ? 'stays' : decision.step.replaceAll('-', ' ');
}
