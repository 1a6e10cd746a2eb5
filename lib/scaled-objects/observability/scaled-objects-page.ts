import { notFound } from '#lib/apiserver/http/status-error.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { shortenSelectors } from '#lib/kubernetes/selectors/readable-selectors.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { type Html, type HtmlPart, html } from '#lib/ui/html.ts';
import { breadcrumbs, objectList } from '#lib/ui/object-list.ts';
import { isListed, objectLink, type PageQuery } from '#lib/ui/page-query.ts';
import { ago, ahead } from '#lib/ui/relative-time.ts';
import { replicaChart } from '#lib/ui/replica-chart.ts';
import { type Column, facts, type Row, type RowState, stateWord, table } from '#lib/ui/table.ts';
import { type KedaAnnotations, readKedaAnnotations } from '../api/annotations.ts';
import { isReady } from '../api/conditions.ts';
import type { ScaledJob } from '../api/scaled-job.ts';
import type { ScaledObject } from '../api/scaled-object.ts';
import type { JobSummary } from '../jobs/job-state.ts';
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

type Listed = Pick<ObjectReport, 'kind' | 'object'>;

/** An object with the report of its triggers; a ScaledJob has one in the leader alone. */
interface Shown extends Listed {
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
    return html`${breadcrumbs(query, 'ScaledObjects')}${listed.map((one) => renderOne(shownOf(one, source), query, source))}`;
  }
  const list = {
    ...{ title: 'ScaledObjects and ScaledJobs', columns: COLUMNS, listed },
    needsAttention: ({ object }: Listed) => !isReady(object.status?.conditions),
    rowOf: (one: Listed) => rowOf(shownOf(one, source), query, source),
    none: 'No ScaledObjects or ScaledJobs.',
    note: otherOperatorNote(source),
  };
  return objectList(list, query);
}

/** A note if another operator manages all objects, with the evidence. */
function otherOperatorNote({ kedaDetector: { evidence } }: DebugOptions): HtmlPart {
  return evidence === undefined
    ? ''
    : html`<p>${stateWord('waiting', 'Not managed')} Another operator manages these objects: ${evidence}.</p>`;
}

/** Reports one object, and computes nothing of others. */
function shownOf({ kind, object }: Listed, source: DebugOptions): Shown {
  const objects = kind === 'ScaledObject' ? [object as ScaledObject] : [];
  const jobs = kind === 'ScaledJob' ? [object as ScaledJob] : [];
  const options = { ...source, objects, jobs };
  const [report] = [...reportScaledObjects(options), ...reportScaledJobs(options)];
  return { kind, object, annotations: report?.prepared?.annotations ?? readKedaAnnotations(object), report };
}

function rowOf(shown: Shown, query: PageQuery, source: DebugOptions): Row {
  const { kind, object } = shown;
  const { namespace = '', name } = object.metadata;
  const { lastActiveTime } = object.status ?? {};
  const { row, word } = describeState(shown, source);
  return {
    state: row,
    note:
      row === 'failing'
        ? describeProblem(shown)
        : word === 'Degraded' && 'A trigger fails, and the fallback applies',
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

/** Message of the condition Ready; if it only states that triggers fail, with the first cause appended. */
function describeProblem({ object, report }: Shown): string | undefined {
  const ready = object.status?.conditions?.find(({ type }) => type === 'Ready');
  if (!report?.plan || !/^(Partial)?TriggerError$/.test(ready?.reason ?? '')) return ready?.message;
  const failing = report.observed.flatMap(({ state }) => ('error' in state ? state.error : []));
  const [cause] = [...report.plan.triggers.flatMap(({ error }) => error ?? []), ...failing];
  return cause ? `${ready?.message}: ${describeError(cause)}` : ready?.message;
}

function renderOne(shown: Shown, query: PageQuery, source: DebugOptions): Html {
  const { kind, object, report } = shown;
  const { namespace = '' } = object.metadata;
  const { conditions = [], lastActiveTime } = object.status ?? {};
  const nowMs = source.clock.nowMs();
  const { row, word } = describeState(shown, source);
  const hpa = object.status && 'hpaName' in object.status ? object.status.hpaName : undefined;
  const hpaLink = hpa !== undefined && objectLink(query, { view: 'hpas', namespace, name: hpa, text: hpa });
  const properties: [string, HtmlPart][] = [
    ['State', stateWord(row, word)],
    ['Scales', scaledBy(shown)],
    ['Next', nextText(shown, source)],
    ['Last active', lastActiveTime === undefined ? 'never' : ago(Date.parse(lastActiveTime), nowMs)],
    ...(hpaLink ? [['HPA', hpaLink] satisfies [string, HtmlPart]] : []),
  ];
  const conditionFacts = conditions.map(({ type, status, message }): [string, HtmlPart] => [
    type,
    message ? `${status}: ${shortenSelectors(message)}` : status,
  ]);
  return html`<section>
<div class="bar"><h2>${kind}</h2></div>
${facts([...properties, ...conditionFacts])}
</section>
${kind === 'ScaledObject' ? replicaSection(shown, source) : jobsSection(report?.jobs, nowMs)}
<section>
<div class="bar"><h2>Triggers</h2><span class="count">${object.spec.triggers.length}</span></div>
${triggerTable(report, nowMs)}
</section>`;
}

/** Draws the replicas of the target, as the leader observed them. */
function replicaSection({ report }: Shown, { states }: DebugOptions): HtmlPart {
  const replicas = (report && states.replicasOf(report.key)?.points()) ?? [];
  const [first, last] = [replicas.at(0), replicas.at(-1)];
  if (!report?.prepared || !first || !last || replicas.length < 2) return '';
  const { idle, min = 0, max: maxReplicas } = report.prepared.bounds;
  const minReplicas = idle ?? min;
  const axes = { fromMs: first.atMs, untilMs: last.atMs };
  const chart = replicaChart({ replicas, minReplicas, maxReplicas }, axes);
  return html`<section><div class="charts">${chart}</div></section>`;
}

const JOB_COLUMNS: readonly Column[] = [
  { title: 'State' },
  { title: 'Job', className: 'name' },
  { title: 'Created', className: 'number' },
  { title: 'Ended', className: 'number' },
];
const JOB_STATES = { Active: 'waiting', Complete: 'served', Failed: 'failing' } as const;

function jobsSection(summary: JobSummary | undefined, nowMs: number): Html {
  const { active = 0, complete = 0, failed = 0, jobs = [], listedAtMs } = summary ?? {};
  const count = active + complete + failed;
  const rows = jobs.map(
    ({ name, state, createdAtMs, endedAtMs }): Row => ({
      ...(state === 'Failed' && { state: 'failing' }),
      cells: [
        stateWord(JOB_STATES[state], state),
        name,
        ago(createdAtMs, nowMs),
        endedAtMs === undefined ? '–' : ago(endedAtMs, nowMs),
      ],
    }),
  );
  const counts = `${active} active, ${complete} complete, ${failed} failed`;
  const more = count > jobs.length ? `; the newest ${jobs.length} are shown` : '';
  const none = summary ? 'No Jobs.' : 'Not listed yet: the leader lists Jobs when a trigger responds.';
  return html`<section>
<div class="bar"><h2>Jobs</h2><span class="count">${summary && `${counts}${more}, listed `}${listedAtMs !== undefined && ago(listedAtMs, nowMs)}</span></div>
${table(JOB_COLUMNS, rows, none)}
</section>`;
}

function describeState({ kind, object, annotations }: Shown, { kedaDetector }: DebugOptions) {
  const { conditions = [] } = object.status ?? {};
  const isTrue = (conditionType: string) =>
    conditions.some(({ type, status }) => type === conditionType && status === 'True');
  const state = (row: RowState, word: string) => ({ row, word });
  if (kedaDetector.evidenceFor(kind, object) !== undefined) return state('waiting', 'Not managed');
  const isRefused = conditions.some(({ type, status }) => type === 'Ready' && status === 'False');
  if (annotations.isPaused && !isRefused) return state('waiting', 'Paused');
  if (conditions.length === 0) return state('waiting', 'Pending');
  if (!isReady(conditions)) return state('failing', 'Failing');
  return isTrue('Fallback') ? state('waiting', 'Degraded') : state('served', 'Healthy');
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

/** Describes the next action, and when. */
function nextText(
  { kind, object, annotations, report }: Shown,
  { states, clock, kedaDetector }: DebugOptions,
): string {
  const evidence = kedaDetector.evidenceFor(kind, object);
  if (evidence !== undefined) return `nothing: another operator manages the object (${evidence})`;
  if (annotations.isPaused) return 'nothing: the object is paused';
  if (!report) return 'the leader polls its triggers';
  const { key, plan, observed, collection } = report;
  if (!plan) return 'the triggers are being prepared';
  const next = kind === 'ScaledObject' ? states.nextOf(key) : undefined;
  const waits = observed.flatMap(({ metric }) => collection.nextInMs(key, metric.metricName) ?? []);
  const polls = waits.length === 0 ? '' : `next poll ${inSeconds(Math.min(...waits))}`;
  const step =
    next && (next.atMs === undefined ? next.what : `${next.what}, ${inSeconds(next.atMs - clock.nowMs())}`);
  return [step, polls].filter(Boolean).join('; ') || 'none of its triggers is polled here';
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
  { title: 'Query', className: 'text' },
];

/** Renders the triggers of an object with their latest values and failures. */
function triggerTable(report: ObjectReport | undefined, nowMs: number): Html {
  const rows = report?.plan?.triggers.flatMap((trigger) => triggerRows(trigger, report, nowMs)) ?? [];
  return table(TRIGGER_COLUMNS, rows, 'This replica polls none of its triggers.');
}

function triggerRows(trigger: PreparedTrigger, report: ObjectReport, nowMs: number): readonly Row[] {
  const { type, name, resource, error } = trigger;
  const title = name === undefined ? type : html`${type} <span class="faint">${name}</span>`;
  const rest = TRIGGER_COLUMNS.slice(2).map(() => '–');
  if (error)
    return [
      {
        state: 'failing',
        note: describeError(error),
        cells: [stateWord('failing', 'Failing'), title, ...rest],
      },
    ];
  if (resource) {
    const note = `the HPA controller reads ${resource.resource} itself`;
    return [{ cells: [stateWord('served', 'Read by the HPA'), title, ...rest], note }];
  }
  return report.observed
    .filter((one) => one.trigger === trigger)
    .map((one) => metricRow(one, { report, title, nowMs }));
}

interface MetricRowOptions {
  readonly report: ObjectReport;
  readonly title: HtmlPart;
  readonly nowMs: number;
}

function metricRow({ metric, state }: ObservedMetric, { report, title, nowMs }: MetricRowOptions): Row {
  const { key, collection, object, activity } = report;
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
      stateWord(row, hasValue ? (state.isActive ? 'Active' : 'Inactive') : word),
      title,
      hasValue ? state.values.join(', ') : '–',
      `${target} ${targetType === 'AverageValue' ? 'per replica' : 'in total'}`,
      sinceMs === undefined ? '–' : ago(sinceMs, nowMs),
      `${failure?.count ?? 0}${counted === undefined ? '' : ` (${counted} counted)`}`,
      ahead(nowMs + (collection.nextInMs(key, metricName) ?? 0), nowMs),
      query.description,
    ],
  };
}

const STATES: Readonly<Record<MetricState['kind'], { readonly row: RowState; readonly word: string }>> = {
  value: { row: 'served', word: 'Active' },
  pending: { row: 'waiting', word: 'Pending' },
  failing: { row: 'failing', word: 'Failing' },
  fallback: { row: 'waiting', word: 'Degraded' },
};
