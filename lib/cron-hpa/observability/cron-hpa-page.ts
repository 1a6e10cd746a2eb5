import { getOwn } from '#lib/kubernetes/get-own.ts';
import { type Html, type HtmlPart, html } from '#lib/ui/html.ts';
import { breadcrumbs, objectList } from '#lib/ui/object-list.ts';
import { isListed, objectLink, type PageQuery } from '#lib/ui/page-query.ts';
import { ago, ahead } from '#lib/ui/relative-time.ts';
import { type Column, facts, type Row, type RowState, stateWord, table } from '#lib/ui/table.ts';
import type { CronHpa } from '../cron-hpa.ts';
import { type CronHpaDescription, type DebuggedCronHpas, describeAll } from './debug-cron-hpas.ts';

const COLUMNS: readonly Column[] = [
  { title: 'State' },
  { title: 'Namespace', className: 'faint' },
  { title: 'Cron-HPA', className: 'name' },
  { title: 'Target', className: 'text' },
  { title: 'Jobs', className: 'number' },
  { title: 'Next activation', className: 'number' },
  { title: 'Last result', className: 'text' },
];
const JOB_COLUMNS: readonly Column[] = [
  { title: 'State' },
  { title: 'Job', className: 'name' },
  { title: 'Schedule', className: 'mono' },
  { title: 'Time zone', className: 'faint' },
  { title: 'Size', className: 'number' },
  { title: 'Next', className: 'number' },
  { title: 'Last', className: 'number' },
];

/** Renders the list of Cron-HPAs, those first that are not ready, or one Cron-HPA with its jobs. */
export function renderCronHpas(query: PageQuery, cronHpas: DebuggedCronHpas): Html {
  if (query.namespace !== '' && query.name !== '') return renderCronHpa(query, cronHpas);
  const listed = [...cronHpas.values()].filter(({ namespace, name }) => isListed(query, namespace, name));
  const needsAttention = ({ status }: CronHpa) => status.ready?.status !== 'True';
  const { nowMs } = cronHpas.planOptions();
  const rowOf = (one: CronHpa) => cronHpaRow(one, query, nowMs);
  const title = 'CronHorizontalPodAutoscalers';
  const list = {
    title,
    columns: COLUMNS,
    listed,
    needsAttention,
    rowOf,
    none: 'No CronHorizontalPodAutoscalers.',
  };
  return objectList(list, query);
}

function cronHpaRow({ namespace, name, spec, status }: CronHpa, query: PageQuery, nowMs: number): Row {
  const { ready, nextScheduleTime, lastResult } = status;
  const state: RowState = ready?.status === 'True' ? 'served' : ready ? 'failing' : 'waiting';
  const { kind, name: target } = spec.scaleTargetRef;
  return {
    state,
    note: state === 'failing' && `${ready?.reason}: ${ready?.message}`,
    cells: [
      stateWord(state, STATE_WORDS[state]),
      namespace,
      objectLink(query, { view: query.view, namespace, name, text: name }),
      `${kind} ${target}`,
      spec.jobs.length,
      whenAhead(nextScheduleTime, nowMs),
      lastResult ?? '–',
    ],
  };
}

const STATE_WORDS = { served: 'Healthy', failing: 'Failing', waiting: 'Pending' } as const;

function renderCronHpa(query: PageQuery, cronHpas: DebuggedCronHpas): Html {
  const described = describeAll(cronHpas, query.namespace, query.name);
  const { nowMs } = cronHpas.planOptions();
  return html`${breadcrumbs(query, 'Cron-HPAs')}
${described.map((one) => renderDescription(one, { nowMs, showsGroup: described.length > 1 }))}`;
}

function renderDescription(
  description: CronHpaDescription,
  { nowMs, showsGroup }: { readonly nowMs: number; readonly showsGroup: boolean },
): Html {
  const { group, target, sets, blocker, next, lastResult, scaleUpKeepWindow, ready, jobs, missed } =
    description;
  const setting = sets.of === undefined ? sets.what : `${sets.what} of ${sets.of}`;
  return html`<section>
${facts([
  ...(showsGroup ? [['API group', group] as const] : []),
  ['Target', `${target.kind} ${target.name}`],
  ['Sets', html`${setting}: ${sets.why}`],
  ['Ready', ready ? `${ready.status}: ${ready.message}` : 'not reconciled yet'],
  ['Blocked by', blocker ? blocker.message : 'nothing'],
  ['Next', next ? html`${next.job} ${whenAhead(next.time, nowMs)}` : 'never'],
  ['Last result', lastResult ?? 'none yet'],
  [
    'Scale-up window',
    scaleUpKeepWindow ? 'open: a job has scaled up, and none has scaled down since' : 'closed',
  ],
  ...missed.map(({ job, count, why }): [string, HtmlPart] => ['Missed', `${job}, ${count} times: ${why}`]),
])}
</section>
<section>
<div class="bar"><h2>Jobs</h2><span class="count">${jobs.length}</span></div>
${table(
  JOB_COLUMNS,
  jobs.map((job) => jobRow(job, nowMs)),
  'No jobs.',
)}
</section>`;
}

const STATES: Readonly<Record<string, RowState>> = { Succeed: 'served', Failed: 'failing' };

function jobRow(job: CronHpaDescription['jobs'][number], nowMs: number): Row {
  const state = getOwn(STATES, job.state) ?? 'waiting';
  const notes = [job.neverDueBecause && `never due: ${job.neverDueBecause}`, job.message].filter(Boolean);
  return {
    ...(state === 'failing' && { state }), // a job that is not due yet needs no attention
    note: notes.length > 0 && notes.map((note) => html`<p>${note}</p>`),
    cells: [
      stateWord(state, job.state),
      job.name,
      job.schedule,
      job.timeZone,
      job.targetSize,
      whenAhead(job.next, nowMs),
      job.lastActivation === undefined ? '–' : ago(Date.parse(job.lastActivation), nowMs),
    ],
  };
}

function whenAhead(time: string | undefined, nowMs: number): HtmlPart {
  return time === undefined ? '–' : ahead(Date.parse(time), nowMs);
}
