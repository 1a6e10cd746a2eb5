import { describeError } from '#lib/telemetry/error-text.ts';
import { type Html, html } from '#lib/ui/html.ts';
import { filterForm, paged } from '#lib/ui/object-list.ts';
import { isListed, objectLink, type PageQuery } from '#lib/ui/page-query.ts';
import { ago, ahead, lasting, shortDuration } from '#lib/ui/relative-time.ts';
import { type Column, type Row, stateWord, table } from '#lib/ui/table.ts';
import type { DebuggedMetrics } from './debug-metrics.ts';
import { type CollectedState, collectedStates } from './metrics-adapter-series.ts';

const COLUMNS: readonly Column[] = [
  { title: 'State' },
  { title: 'HPA', className: 'name' },
  { title: 'Metric', className: 'text' },
  { title: 'Collector', className: 'faint' },
  { title: 'Value', className: 'number' },
  { title: 'Age', className: 'number' },
  { title: 'Interval', className: 'number' },
  { title: 'Next', className: 'number' },
  { title: 'Query', className: 'text' },
];

interface Problem {
  readonly hpa: string;
  readonly metric: string;
  readonly problem: string;
}

/** The list of collected metrics; first those that cannot be collected and those that fail. */
export function renderMetrics(query: PageQuery, { collectors, collection, clock }: DebuggedMetrics): Html {
  const problems: Problem[] = [...collectors.collected].flatMap(([hpa, collected]) =>
    collected.problems.map(({ metric, error }) => ({ hpa, metric, problem: describeError(error) })),
  );
  const states = [...collectedStates(collectors, collection)];
  const needsAttention = ({ isServed, error }: CollectedState) => !isServed || error !== undefined;
  const inOrder = [
    ...problems,
    ...states.filter(needsAttention),
    ...states.filter((one) => !needsAttention(one)),
  ];
  const listed = inOrder.filter(({ hpa }) => isListed(query, ...partsOf(hpa)));
  const { items, links } = paged(listed, query);
  const nowMs = clock.nowMs();
  const rows = items.map((one) => ('problem' in one ? problemRow(one, query) : stateRow(one, query, nowMs)));
  return html`<section>
<div class="bar"><h2>Metrics of HPAs</h2><span class="count">${listed.length}</span>${filterForm(query)}</div>
${table(COLUMNS, rows, 'No HPA has a metric that the autoscaler collects.')}
${links}
</section>`;
}

function problemRow({ hpa, metric, problem }: Problem, query: PageQuery): Row {
  const rest = COLUMNS.slice(3).map(() => '–');
  return {
    state: 'failing',
    note: problem,
    cells: [stateWord('failing', 'Failing'), hpaLink(hpa, query), metric || '–', ...rest],
  };
}

function stateRow(state: CollectedState, query: PageQuery, nowMs: number): Row {
  const { hpa, metric, collector, value, samples = 0, receivedAtMs, isServed, error, failingSinceMs } = state;
  const notes = [
    ...(error === undefined
      ? []
      : [html`${error}${failingSinceMs !== undefined && html` (${lasting(failingSinceMs, nowMs)})`}`]),
    ...state.notes,
  ];
  const more = samples > 1 ? html` <span class="faint">of ${samples}</span>` : undefined;
  const [rowState, word] = isServed
    ? error === undefined
      ? (['served', 'Healthy'] as const)
      : (['waiting', 'Degraded'] as const)
    : receivedAtMs === undefined && error === undefined
      ? (['waiting', 'Pending'] as const)
      : (['failing', 'Failing'] as const);
  return {
    state: rowState,
    note: notes.length > 0 && notes.map((note) => html`<p>${note}</p>`),
    cells: [
      stateWord(rowState, word),
      hpaLink(hpa, query),
      metric ?? '–',
      collector ?? '–',
      value === undefined ? '–' : html`${value}${more}`,
      receivedAtMs === undefined ? '–' : ago(receivedAtMs, nowMs),
      shortDuration(state.intervalMs),
      ahead(nowMs + state.nextInMs, nowMs),
      state.query,
    ],
  };
}

function hpaLink(hpa: string, query: PageQuery): Html {
  const [namespace, name] = partsOf(hpa);
  return objectLink(query, { view: 'hpas', namespace, name, text: hpa });
}

function partsOf(key: string): [namespace: string, name: string] {
  const [namespace = '', name = ''] = key.split('/');
  return [namespace, name];
}
