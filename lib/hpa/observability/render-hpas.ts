import { notFound } from '#lib/apiserver/http/status-error.ts';
import { printableLines } from '#lib/telemetry/printable.ts';
import { type Html, type HtmlPart, html } from '#lib/ui/html.ts';
import { breadcrumbs, objectList } from '#lib/ui/object-list.ts';
import { isListed, objectLink, type PageQuery, pageAddress } from '#lib/ui/page-query.ts';
import { ago, lasting } from '#lib/ui/relative-time.ts';
import { type Column, type Row, stateWord } from '#lib/ui/table.ts';
import { type ChartLine, type TimeChart, timeChart } from '#lib/ui/time-chart.ts';
import { highestReplicas } from '../explain/timeline.ts';
import type { AutoMinLog } from '../min-replicas/min-replicas-report.ts';
import { hpaText } from './debug-hpa.ts';
import { type DecisionLog, type HpaDecisions, type LoggedDecision, shortened } from './decision-log.ts';
import { troubleOf } from './hpa-trouble.ts';

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

/** What there is to show of HPAs. */
export interface HpaUiSource {
  readonly decisions: DecisionLog;
  readonly autoMin: Pick<AutoMinLog, 'find'>;
  nowMs(): number;
}

/** The list of HPAs, those in trouble first; one by namespace and name in full. */
export function renderHpas(query: PageQuery, source: HpaUiSource): Html {
  if (query.namespace !== '' && query.name !== '') return renderHpa(query, source);
  const listed = [...source.decisions.values()].filter(({ namespace, name }) =>
    isListed(query, namespace, name),
  );
  const needsAttention = (one: HpaDecisions) => troubleOf(one) !== undefined;
  const none = 'None has been decided here: only the replica that leads decides HPAs.';
  const rowOf = (one: HpaDecisions) => hpaRow(one, query, source.nowMs());
  const list = { title: 'HorizontalPodAutoscalers', columns: COLUMNS, listed, needsAttention, rowOf, none };
  return objectList(list, query);
}

function hpaRow(one: HpaDecisions, query: PageQuery, nowMs: number): Row {
  const { namespace, name, explanation, decisions, atMaxSinceMs } = one;
  const latest = decisions.at(-1);
  const address = pageAddress({ view: query.view, namespace, name, isPaused: query.isPaused });
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

/** More lines nobody can tell from one another. */
const MOST_LINES = 6;
/** A metric far beyond its target is drawn at the upper edge, or the others would all lie at the lower. */
const MOST_PERCENT = 1000;
const SIZE = { width: 600, height: 260 };

/** Draws the latest decisions of an HPA: its replicas, and its metrics against their targets. */
export function hpaCharts(hpa: HpaDecisions): readonly Html[] {
  const { decisions, explanation } = hpa;
  const [first, last] = [decisions.at(0), decisions.at(-1)];
  if (!first || !last || decisions.length < 2)
    return [html`<p class="hint">A drawing takes two decisions.</p>`];
  const axes = { fromMs: first.atMs, untilMs: last.atMs, timeText: clockTime, ...SIZE };
  const { minReplicas, maxReplicas = 1 } = explanation ?? {};
  const asked = decisions.map(({ atMs, proposedReplicas }) => ({ atMs, value: proposedReplicas }));
  const replicas = decisions.map(({ atMs, currentReplicas }) => ({ atMs, value: currentReplicas }));
  const loads = loadLines(hpa);
  return [
    timeChart({
      ...axes,
      title: 'Replicas',
      lines: [
        { className: 'replicas', label: 'replicas', points: replicas, isStepped: true },
        { className: 'asked', label: 'what metrics ask for', points: asked, isStepped: true },
      ],
      bounds: minReplicas === undefined ? [] : [{ value: minReplicas }, { value: maxReplicas }],
      boundsLabel: `bounds ${minReplicas} to ${maxReplicas}`,
      highest: highestReplicas({ replicas, asked, maxReplicas }),
      isWhole: true,
      valueText: String,
    }),
    ...(loads.length > 0 ? [timeChart({ ...axes, ...loadChart(loads) })] : []),
  ];
}

/** Against their targets, metrics of all units have one axis, and what leads is what is highest. */
function loadChart(
  lines: readonly ChartLine[],
): Pick<TimeChart, 'title' | 'lines' | 'bounds' | 'boundsLabel' | 'highest' | 'isWhole' | 'valueText'> {
  const values = lines.flatMap(({ points }) => points.flatMap(({ value }) => value ?? []));
  const highest = Math.min(Math.max(150, ...values), MOST_PERCENT);
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
  return (loads?.metrics ?? []).slice(0, MOST_LINES).map((metric, place) => {
    const label = metric.replace(/\(.*$/s, ''); // its selector would be longer than the drawing is wide
    const ratios = loads?.ratiosOf(place) ?? [];
    const drawn = decisions.slice(decisions.length - ratios.length);
    const points = drawn.map(({ atMs }, index) => {
      const ratio = ratios[index];
      return { atMs, value: ratio === undefined ? undefined : ratio * 100 };
    });
    return { className: `load-${place}`, label, points };
  });
}

/** The wall clock in UTC; seconds only where they are. */
function clockTime(atMs: number): string {
  const time = new Date(atMs).toISOString();
  return time.slice(17, 19) === '00' ? time.slice(11, 16) : time.slice(11, 19);
}
