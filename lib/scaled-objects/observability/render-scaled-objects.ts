import { notFound } from '#lib/apiserver/http/status-error.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { keyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { type Html, type HtmlPart, html } from '#lib/ui/html.ts';
import { breadcrumbs, filterForm, paged } from '#lib/ui/object-list.ts';
import { isListed, objectLink, type PageQuery } from '#lib/ui/page-query.ts';
import { ago, ahead } from '#lib/ui/relative-time.ts';
import { type Column, facts, type Row, type RowState, stateWord, table } from '#lib/ui/table.ts';
import { type KedaAnnotations, readKedaAnnotations } from '../api/annotations.ts';
import { isReady } from '../api/conditions.ts';
import type { ScaledJob } from '../api/scaled-job.ts';
import type { ScaledObject } from '../api/scaled-object.ts';
import type { MetricState, ObservedMetric } from '../metrics/metric-state.ts';
import type { PreparedTrigger } from '../preparation/prepared-triggers.ts';
import type { DebugOptions } from './debug-scaled-objects.ts';
import { type ObjectReport, reportScaledJobs, reportScaledObjects } from './object-report.ts';

const COLUMNS: readonly Column[] = [
  { title: 'State' },
  { title: 'Kind', className: 'faint' },
  { title: 'Namespace', className: 'faint' },
  { title: 'Name', className: 'name' },
  { title: 'Scales', className: 'text' },
  { title: 'Triggers', className: 'text' },
  { title: 'Last active', className: 'number' },
  { title: 'Next', className: 'text' },
];
const RESOURCE = { group: 'keda.sh', resource: 'scaledobjects' };

/** An object, and what is known of its triggers; nothing of those of a ScaledJob where this replica does not act. */
interface Shown {
  readonly kind: ObjectReport['kind'];
  readonly object: ScaledObject | ScaledJob;
  readonly annotations: KedaAnnotations;
  readonly report: ObjectReport | undefined;
}

/** The list of ScaledObjects and ScaledJobs, those first that are not ready; those of one name with their triggers. */
export function renderScaledObjects(query: PageQuery, source: DebugOptions): Html {
  const all = [
    ...[...source.objects.values()].map((object) => ({ kind: 'ScaledObject', object }) as const),
    ...[...source.jobs.values()].map((object) => ({ kind: 'ScaledJob', object }) as const),
  ];
  const listed = all.filter(({ object: { metadata } }) =>
    isListed(query, metadata.namespace ?? '', metadata.name),
  );
  if (query.namespace !== '' && query.name !== '') {
    if (listed.length === 0) throw notFound(RESOURCE, `${query.namespace}/${query.name}`);
    return html`${breadcrumbs(query, 'ScaledObjects')}${shownOf(listed, source).map((one) => renderOne(one, source))}`;
  }
  const needsAttention = ({ object }: (typeof all)[number]) => !isReady(object.status?.conditions);
  const inOrder = [...listed.filter(needsAttention), ...listed.filter((one) => !needsAttention(one))];
  const { items, links } = paged(inOrder, query);
  const rows = shownOf(items, source).map((one) => rowOf(one, query, source));
  return html`<section>
<div class="bar"><h2>ScaledObjects and ScaledJobs</h2><span class="count">${listed.length}</span>${filterForm(query)}</div>
${managedByKeda(source)}
${table(COLUMNS, rows, 'There is none.')}
${links}
</section>`;
}

/** That another operator acts on them, and by what that is known. */
function managedByKeda({ kedaDetector: { evidence } }: DebugOptions): HtmlPart {
  return evidence === undefined
    ? ''
    : html`<p>${stateWord('waiting', 'Left alone')} Another operator acts on these objects: ${evidence}.</p>`;
}

/** What is known of some objects: of these alone it is looked up. */
function shownOf(
  some: readonly { readonly kind: ObjectReport['kind']; readonly object: ScaledObject | ScaledJob }[],
  source: DebugOptions,
): readonly Shown[] {
  const objects = some.flatMap(({ kind, object }) =>
    kind === 'ScaledObject' ? (object as ScaledObject) : [],
  );
  const jobs = some.flatMap(({ kind, object }) => (kind === 'ScaledJob' ? (object as ScaledJob) : []));
  const options = { ...source, objects, jobs };
  const told = new Map(
    [...reportScaledObjects(options), ...reportScaledJobs(options)].map((one) => [
      `${one.kind} ${one.key}`,
      one,
    ]),
  );
  return some.map((one) => {
    const found = told.get(`${one.kind} ${keyOf(one.object.metadata)}`);
    return {
      ...one,
      annotations: found?.prepared?.annotations ?? readKedaAnnotations(one.object),
      report: found,
    };
  });
}

function rowOf(shown: Shown, query: PageQuery, source: DebugOptions): Row {
  const { kind, object } = shown;
  const { namespace = '', name } = object.metadata;
  const { lastActiveTime } = object.status ?? {};
  const { row, word } = wordOf(shown, source);
  return {
    state: row,
    note: row === 'failing' && whyNotReady(shown),
    cells: [
      stateWord(row, word),
      kind,
      namespace,
      objectLink(query, { view: query.view, namespace, name, text: name }),
      scaledBy(shown),
      triggersText(shown),
      lastActiveTime === undefined ? '–' : ago(Date.parse(lastActiveTime), source.clock.nowMs()),
      nextText(shown, source),
    ],
  };
}

/** What the condition says, and of triggers that do not work, which only says that, why the first does not. */
function whyNotReady({ object, report }: Shown): string | undefined {
  const ready = object.status?.conditions?.find(({ type }) => type === 'Ready');
  if (!report?.plan || !/^(Partial)?TriggerError$/.test(ready?.reason ?? '')) return ready?.message;
  const failing = report.observed.flatMap(({ state }) => ('error' in state ? state.error : []));
  const [cause] = [...report.plan.triggers.flatMap(({ error }) => error ?? []), ...failing];
  return cause ? `${ready?.message}: ${describeError(cause)}` : ready?.message;
}

function renderOne(shown: Shown, source: DebugOptions): Html {
  const { kind, object, report } = shown;
  const { conditions = [], lastActiveTime } = object.status ?? {};
  const nowMs = source.clock.nowMs();
  const hpa = object.status && 'hpaName' in object.status ? object.status.hpaName : undefined;
  const state: [string, HtmlPart][] = [
    ['Scales', scaledBy(shown)],
    ['Next', nextText(shown, source)],
    ['Last active', lastActiveTime === undefined ? 'never' : ago(Date.parse(lastActiveTime), nowMs)],
    ...(hpa === undefined ? [] : [['HPA', hpa] satisfies [string, HtmlPart]]),
  ];
  const conditionFacts = conditions.map(({ type, status, message }): [string, HtmlPart] => [
    type,
    message ? `${status}: ${message}` : status,
  ]);
  return html`<section>
<div class="bar"><h2>${kind}</h2></div>
${facts([...state, ...conditionFacts])}
</section>
<section>
<div class="bar"><h2>Triggers</h2><span class="count">${object.spec.triggers.length}</span></div>
${triggerTable(report, nowMs)}
</section>`;
}

function wordOf({ kind, object, annotations }: Shown, { kedaDetector }: DebugOptions) {
  const { conditions = [] } = object.status ?? {};
  const isTrue = (wanted: string) =>
    conditions.some(({ type, status }) => type === wanted && status === 'True');
  const state = (row: RowState, word: string) => ({ row, word });
  if (kedaDetector.evidenceFor(kind, object) !== undefined) return state('waiting', 'left alone');
  const isRefused = conditions.some(({ type, status }) => type === 'Ready' && status === 'False');
  if (annotations.isPaused && !isRefused) return state('waiting', 'paused');
  if (conditions.length === 0) return state('waiting', 'not seen yet');
  if (!isReady(conditions)) return state('failing', 'not ready');
  if (isTrue('Fallback')) return state('waiting', 'falling back');
  return state('served', isTrue('Active') ? 'active' : 'ready');
}

function scaledBy({ report }: Shown): string {
  if (!report?.prepared) return 'Jobs';
  const { kind, name } = report.prepared.target.ref;
  return `${kind} ${name}`;
}

/** Types of triggers, and how many of them are active. */
function triggersText({ object, report }: Shown): string {
  const types = [...new Set(object.spec.triggers.map(({ type }) => type))].join(', ');
  const observed = report?.observed ?? [];
  const active = observed.filter(({ state }) => state.kind === 'value' && state.isActive).length;
  return observed.length === 0 ? types : `${types}: ${active} of ${observed.length} active`;
}

/** What is done next, and when. */
function nextText(
  { kind, object, annotations, report }: Shown,
  { states, clock, kedaDetector }: DebugOptions,
): string {
  const evidence = kedaDetector.evidenceFor(kind, object);
  if (evidence !== undefined) return `nothing, for another operator acts on it: ${evidence}`;
  if (annotations.isPaused) return 'nothing, for it is paused';
  if (!report) return 'the replica that leads asks its triggers';
  const { key, plan, observed, collection } = report;
  if (!plan) return 'its triggers are looked at';
  const next = kind === 'ScaledObject' ? states.nextOf(key) : undefined;
  const waits = observed.flatMap(({ metric }) => collection.nextInMs(key, metric.metricName) ?? []);
  const polls = waits.length === 0 ? '' : `triggers are asked ${inSeconds(Math.min(...waits))}`;
  const step =
    next && (next.atMs === undefined ? next.what : `${next.what}, ${inSeconds(next.atMs - clock.nowMs())}`);
  return [step, polls].filter(Boolean).join('; ') || 'no trigger of it is asked here';
}

function inSeconds(durationMs: number): string {
  return `in ${Math.max(0, Math.round(durationMs / 1000))} s`;
}

const TRIGGER_COLUMNS: readonly Column[] = [
  { title: 'State' },
  { title: 'Trigger', className: 'name' },
  { title: 'Value', className: 'number' },
  { title: 'Threshold', className: 'number' },
  { title: 'Since', className: 'number' },
  { title: 'Failures', className: 'number' },
  { title: 'Next poll', className: 'number' },
  { title: 'Asked', className: 'text' },
];

/** The triggers of an object, with what each told and how it fares. */
function triggerTable(told: ObjectReport | undefined, nowMs: number): Html {
  const rows = told?.plan?.triggers.flatMap((trigger) => triggerRows(trigger, told, nowMs)) ?? [];
  return table(TRIGGER_COLUMNS, rows, 'None is asked by this replica now.');
}

function triggerRows(trigger: PreparedTrigger, told: ObjectReport, nowMs: number): readonly Row[] {
  const { type, name, resource, error } = trigger;
  const title = name === undefined ? type : html`${type} <span class="faint">${name}</span>`;
  const rest = TRIGGER_COLUMNS.slice(2).map(() => '–');
  if (error)
    return [
      {
        state: 'failing',
        note: describeError(error),
        cells: [stateWord('failing', 'not asked'), title, ...rest],
      },
    ];
  if (resource) {
    const note = `the HPA controller reads ${resource.resource} itself`;
    return [{ cells: [stateWord('served', 'by the HPA'), title, ...rest], note }];
  }
  return told.observed
    .filter((one) => one.trigger === trigger)
    .map((one) => metricRow(one, { told, title, nowMs }));
}

interface MetricRowOptions {
  readonly told: ObjectReport;
  readonly title: HtmlPart;
  readonly nowMs: number;
}

function metricRow({ metric, state }: ObservedMetric, { told, title, nowMs }: MetricRowOptions): Row {
  const { key, collection, object, activity } = told;
  const { metricName, target, targetType, query } = metric;
  const failure = collection.failure(key, metricName);
  const health = object.status && 'health' in object.status ? object.status.health : undefined;
  const counted = getOwn(health, metricName)?.numberOfFailures;
  const hasValue = state.kind === 'value';
  const sinceMs = failure?.sinceMs ?? (hasValue ? activity?.of(metricName)?.sinceMs : undefined);
  const { row, word } = STATES[state.kind];
  const error =
    state.kind === 'failing' || state.kind === 'fallback' ? describeError(state.error) : undefined;
  return {
    state: row,
    note: [error, metricName].filter((text) => text !== undefined).map((text) => html`<p>${text}</p>`),
    cells: [
      stateWord(row, hasValue ? (state.isActive ? 'active' : 'not active') : word),
      title,
      hasValue ? state.values.join(', ') : '–',
      `${target} ${targetType === 'AverageValue' ? 'a replica' : 'in all'}`,
      sinceMs === undefined ? '–' : ago(sinceMs, nowMs),
      `${failure?.count ?? 0}${counted === undefined ? '' : ` (${counted} counted)`}`,
      ahead(nowMs + (collection.nextInMs(key, metricName) ?? 0), nowMs),
      query.description,
    ],
  };
}

const STATES: Readonly<Record<MetricState['kind'], { readonly row: RowState; readonly word: string }>> = {
  value: { row: 'served', word: 'told' },
  pending: { row: 'waiting', word: 'not asked yet' },
  failing: { row: 'failing', word: 'failing' },
  fallback: { row: 'waiting', word: 'falling back' },
};
