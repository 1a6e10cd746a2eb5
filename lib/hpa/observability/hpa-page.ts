import { notFound } from '#lib/apiserver/http/status-error.ts';
import { shortenSelectors } from '#lib/kubernetes/selectors/readable-selectors.ts';
import { printableLines } from '#lib/telemetry/printable.ts';
import { type Html, type HtmlPart, html } from '#lib/ui/html.ts';
import { breadcrumbs, objectList } from '#lib/ui/object-list.ts';
import { isListed, objectLink, type PageQuery, pageAddress } from '#lib/ui/page-query.ts';
import { ago, lasting } from '#lib/ui/relative-time.ts';
import { CHART_SIZE, clockTime, replicaChart } from '#lib/ui/replica-chart.ts';
import { type Column, facts, type Row, type RowState, stateWord } from '#lib/ui/table.ts';
import { type ChartLine, type TimeChart, timeChart } from '#lib/ui/time-chart.ts';
import type { Explanation } from '../decision/decision.ts';
import type { MetricExplanation } from '../decision/evaluate-metrics.ts';
import { currentText, targetText } from '../explain/explain-decision.ts';
import type { MinReplicasReport } from '../min-replicas/min-replicas-report.ts';
import { hpaText } from './debug-hpa.ts';
import { type DecisionLog, type HpaDecisions, shortened } from './decision-log.ts';
import { findProblem } from './hpa-problem.ts';

const HPAS = { group: 'autoscaling', resource: 'horizontalpodautoscalers' };
const COLUMNS: readonly Column[] = [
  { title: 'State' },
  { title: 'Namespace', className: 'faint' },
  { title: 'HPA', className: 'name' },
  { title: 'Replicas', className: 'number' },
  { title: 'Proposed', className: 'number' },
  { title: 'Bounds', className: 'number' },
  { title: 'Current / target', className: 'text' },
  { title: 'Decided', className: 'number' },
];

/** Limits text in the list; the page of an HPA has the whole name. */
const MAX_NAME_LENGTH = 100;
const MAX_NOTE_LENGTH = 300;
/** Of the metrics in the list. */
const MAX_TARGETS = 3;
/** The selector in the HPA of a ScaledObject, which says no more than its name. */
const OF_SCALED_OBJECT = /\{scaledobject\.keda\.sh\/name=[^{},]*\}/;

export interface HpaUiSource {
  readonly decisions: DecisionLog;
  readonly autoMin: Pick<MinReplicasReport, 'find'>;
  nowMs(): number;
}

/** Renders the list of HPAs, those with problems first, or one HPA. */
export function renderHpas(query: PageQuery, source: HpaUiSource): Html {
  if (query.namespace !== '' && query.name !== '') return renderHpa(query, source);
  const listed = [...source.decisions.values()].filter(({ namespace, name }) =>
    isListed(query, namespace, name),
  );
  const needsAttention = (one: HpaDecisions) => findProblem(one) !== undefined;
  const none = 'No HPAs here: only the leader evaluates HPAs.';
  const rowOf = (one: HpaDecisions) => hpaRow(one, query, source.nowMs());
  const list = { title: 'HorizontalPodAutoscalers', columns: COLUMNS, listed, needsAttention, rowOf, none };
  return objectList(list, query);
}

function hpaRow(one: HpaDecisions, query: PageQuery, nowMs: number): Row {
  const { namespace, name, explanation, decisions } = one;
  const latest = decisions.at(-1);
  const address = pageAddress({ view: query.view, namespace, name, isPaused: query.isPaused });
  const { currentReplicas, desiredReplicas } = latest ?? {};
  const replicas =
    currentReplicas === desiredReplicas
      ? `${currentReplicas ?? '?'}`
      : `${currentReplicas ?? '?'} → ${desiredReplicas ?? '?'}`;
  const { state, word, note } = describeState(one, nowMs);
  return {
    ...{ state, note },
    cells: [
      stateWord(state, word),
      namespace,
      html`<a href="${address}">${name}</a>`,
      replicas,
      latest?.proposedReplicas ?? '–',
      explanation ? `${explanation.minReplicas} to ${explanation.maxReplicas}` : '–',
      explanation ? renderTargets(explanation) : '–',
      latest ? ago(latest.atMs, nowMs) : '–',
    ],
  };
}

function describeState(
  one: HpaDecisions,
  nowMs: number,
): { readonly state: RowState; readonly word: string; readonly note?: HtmlPart } {
  const { decisions, explanation, atMaxSinceMs } = one;
  const problem = findProblem(one);
  if (problem) {
    const word = problem.state === 'failing' ? 'Failing' : 'Not managed';
    return { state: problem.state, word, note: html`${problem.kind}: ${describeProblem(one, nowMs)}` };
  }
  if (decisions.at(-1)?.step === 'switched-off')
    return { state: 'waiting', word: 'Paused', note: 'The target has no replicas' };
  if (atMaxSinceMs !== undefined) {
    const note = html`At maxReplicas (${explanation?.maxReplicas}) ${lasting(atMaxSinceMs, nowMs)}`;
    return { state: 'waiting', word: 'Limited', note };
  }
  return decisions.length === 0
    ? { state: 'waiting', word: 'Pending' }
    : { state: 'served', word: 'Healthy' };
}

/** Renders current value and target of each metric, the leading one in bold. */
function renderTargets({ metrics, leadingMetric }: Explanation): HtmlPart {
  if (metrics.length === 0) return '–';
  const order = [...metrics.keys()].sort((a, b) => Number(b === leadingMetric) - Number(a === leadingMetric));
  const shown = order.slice(0, MAX_TARGETS).map((index, position) => {
    const metric = metrics[index] as MetricExplanation;
    const name = shortened(shortenSelectors(metric.name).replace(OF_SCALED_OBJECT, ''), MAX_NAME_LENGTH);
    const text = metric.failure
      ? html`${name}: no value, target ${targetText(metric)}`
      : html`${name}: ${currentText(metric)} of ${targetText(metric)}`;
    return html`${position > 0 && html`<br>`}${index === leadingMetric ? html`<b>${text}</b>` : text}`;
  });
  const more = metrics.length - shown.length;
  return [...shown, more > 0 && html`<br>and ${more} more`];
}

/** Describes the cause of a problem. */
function describeProblem(
  { explanation, decisions, missingSinceMs, other }: HpaDecisions,
  nowMs: number,
): HtmlPart {
  if (other)
    return html`"${shortened(other.manager, MAX_NAME_LENGTH)}" wrote the status of this HPA ${ago(other.writtenAtMs, nowMs)}`;
  const failed = explanation?.metrics.find(({ failure }) => failure !== undefined);
  const why = failed ? `${failed.name}: ${failed.failure?.message}` : decisions.at(-1)?.error;
  if (why === undefined) return 'no error reported';
  return html`${shortened(shortenSelectors(why), MAX_NOTE_LENGTH)}${missingSinceMs !== undefined && html` (${lasting(missingSinceMs, nowMs)})`}`;
}

/** Renders why an HPA fails: condition, metrics, their API, and since when. */
function renderCause(hpa: HpaDecisions, nowMs: number): HtmlPart {
  const problem = findProblem(hpa);
  if (!problem) return false;
  const { falseCondition: condition, other, missingSinceMs } = hpa;
  const failed = other ? [] : (hpa.explanation?.metrics.filter(({ failure }) => failure) ?? []);
  const sinceMs = missingSinceMs ?? (condition && Date.parse(condition.lastTransitionTime ?? ''));
  const message = condition?.message
    ? shortened(shortenSelectors(condition.message), MAX_NOTE_LENGTH)
    : describeProblem({ ...hpa, missingSinceMs: undefined }, nowMs);
  const apis = [...new Set(failed.map(({ type }) => APIS.get(type) ?? type))];
  return html`<section>
<div class="bar"><h2>Cause</h2></div>
${facts([
  ['Problem', stateWord(problem.state, problem.kind)],
  ...(condition ? [['Condition', `${condition.type} is False: ${condition.reason}`] as const] : []),
  ['Message', message],
  ...(failed.length > 0
    ? [['Metric', namesOf(failed)] as const, ['Read from', apis.join(', ')] as const]
    : []),
  ...(sinceMs === undefined ? [] : [['Since', lasting(sinceMs, nowMs)] as const]),
])}
</section>
`;
}

/** Where values of metrics are read, by type of the metric. */
const APIS: ReadonlyMap<string, string> = new Map([
  ['Resource', 'metrics.k8s.io'],
  ['ContainerResource', 'metrics.k8s.io'],
  ['Pods', 'custom.metrics.k8s.io'],
  ['Object', 'custom.metrics.k8s.io'],
  ['External', 'external.metrics.k8s.io'],
]);

function namesOf(failed: readonly MetricExplanation[]): string {
  const names = failed
    .slice(0, MAX_TARGETS)
    .map(({ name }) => shortened(shortenSelectors(name), MAX_NAME_LENGTH));
  const more = failed.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function renderHpa(query: PageQuery, { decisions, autoMin, nowMs }: HpaUiSource): Html {
  const { namespace, name } = query;
  const key = `${namespace}/${name}`;
  const found = decisions.find(key);
  if (!found) throw notFound(HPAS, key);
  return html`${breadcrumbs(query, 'HPAs')}
${renderCause(found, nowMs())}<section>
<div class="charts">${hpaCharts(found)}</div>
</section>
<section>
<div class="bar"><h2>Latest decision</h2>${objectLink(query, { view: 'metrics', namespace, name, text: 'collected metrics' })}</div>
<pre class="why">${printableLines(hpaText(found, autoMin.find(key)))}</pre>
</section>`;
}

/** More lines cannot be distinguished. */
const MAX_LINES = 6;
/** A metric far above its target is drawn at the top edge, so that the others stay visible. */
const MAX_PERCENT = 1000;

/** Draws the latest decisions of an HPA: replicas, and metrics relative to their targets. */
export function hpaCharts(hpa: HpaDecisions): readonly Html[] {
  const { decisions, explanation } = hpa;
  const [first, last] = [decisions.at(0), decisions.at(-1)];
  if (!first || !last || decisions.length < 2)
    return [html`<p class="hint">The chart appears after two decisions.</p>`];
  const axes = { fromMs: first.atMs, untilMs: last.atMs };
  const { minReplicas, maxReplicas = 1 } = explanation ?? {};
  const proposed = decisions.map(({ atMs, proposedReplicas }) => ({ atMs, value: proposedReplicas }));
  const replicas = decisions.map(({ atMs, currentReplicas }) => ({ atMs, value: currentReplicas }));
  const loads = loadLines(hpa);
  return [
    replicaChart({ replicas, proposed, minReplicas, maxReplicas }, axes),
    ...(loads.length > 0
      ? [timeChart({ ...axes, ...CHART_SIZE, timeText: clockTime, ...loadChart(loads) })]
      : []),
  ];
}

/** Draws metrics of all units on one axis, in percent of their targets: the highest leads. */
function loadChart(
  lines: readonly ChartLine[],
): Pick<TimeChart, 'title' | 'lines' | 'bounds' | 'boundsLabel' | 'highest' | 'isWhole' | 'valueText'> {
  const values = lines.flatMap(({ points }) => points.flatMap(({ value }) => value ?? []));
  const highest = Math.min(Math.max(150, ...values), MAX_PERCENT);
  return {
    title: 'Metrics, in % of their targets',
    lines,
    highest,
    isWhole: true,
    bounds: [{ value: 100 }],
    boundsLabel: 'target',
    valueText: (value) => `${value}%`,
  };
}

function loadLines({ decisions, loads }: HpaDecisions): readonly ChartLine[] {
  return (loads?.metrics ?? []).slice(0, MAX_LINES).map((metric, index) => {
    const label = shortenSelectors(metric).replace(/[({].*$/s, ''); // without the selector, which may be wider than the chart
    const ratios = loads?.ratiosOf(index) ?? [];
    const drawn = decisions.slice(decisions.length - ratios.length);
    const points = drawn.map(({ atMs }, decision) => {
      const ratio = ratios[decision];
      return { atMs, value: ratio === undefined ? undefined : ratio * 100 };
    });
    return { className: `load-${index}`, label, points };
  });
}
