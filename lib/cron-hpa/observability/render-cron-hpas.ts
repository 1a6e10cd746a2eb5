import { notFound } from '#lib/apiserver/http/status-error.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { type Html, type HtmlPart, html } from '#lib/ui/html.ts';
import { breadcrumbs, objectList } from '#lib/ui/object-list.ts';
import { isListed, objectLink, type PageQuery } from '#lib/ui/page-query.ts';
import { ago, ahead } from '#lib/ui/relative-time.ts';
import { type Column, facts, type Row, type RowState, stateWord, table } from '#lib/ui/table.ts';
import { CRON_HPA, type CronHpa } from '../cron-hpa.ts';
import { type DebuggedCronHpas, describeCronHpa } from './debug-cron-hpas.ts';

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

/** The list of Cron-HPAs, those first that are not ready; one by namespace and name with its jobs. */
export function renderCronHpas(query: PageQuery, known: DebuggedCronHpas): Html {
  if (query.namespace !== '' && query.name !== '') return renderCronHpa(query, known);
  const listed = [...known.values()].filter(({ namespace, name }) => isListed(query, namespace, name));
  const needsAttention = ({ status }: CronHpa) => status.ready?.status !== 'True';
  const { nowMs } = known.planOptions();
  const rowOf = (one: CronHpa) => cronHpaRow(one, query, nowMs);
  const title = 'CronHorizontalPodAutoscalers';
  const list = { title, columns: COLUMNS, listed, needsAttention, rowOf, none: 'There is none.' };
  return objectList(list, query);
}

function cronHpaRow({ namespace, name, spec, status }: CronHpa, query: PageQuery, nowMs: number): Row {
  const { ready, nextScheduleTime, lastResult } = status;
  const state: RowState = ready?.status === 'True' ? 'served' : ready ? 'failing' : 'waiting';
  const { kind, name: target } = spec.scaleTargetRef;
  return {
    state,
    note: state === 'failing' && ready?.message,
    cells: [
      stateWord(state, ready ? (ready.status === 'True' ? 'ready' : ready.reason) : 'not seen yet'),
      namespace,
      objectLink(query, { view: query.view, namespace, name, text: name }),
      `${kind} ${target}`,
      spec.jobs.length,
      whenAhead(nextScheduleTime, nowMs),
      lastResult ?? '–',
    ],
  };
}

function renderCronHpa(query: PageQuery, known: DebuggedCronHpas): Html {
  const { namespace, name } = query;
  const object = known.find(namespace, name);
  if (!object) throw notFound({ group: CRON_HPA.group, resource: CRON_HPA.plural }, `${namespace}/${name}`);
  const options = known.planOptions();
  const { nowMs } = options;
  const { target, moves, hindrance, next, lastResult, scaleUpKeepWindow, ready, jobs, missed } =
    describeCronHpa(object, { ...options, ...known.others(object) });
  const moved = moves.of === undefined ? moves.what : `${moves.what} of ${moves.of}`;
  return html`${breadcrumbs(query, 'Cron-HPAs')}
<section>
${facts([
  ['Target', `${target.kind} ${target.name}`],
  ['Moves', html`${moved}: ${moves.why}`],
  ['Ready', ready ? `${ready.status}: ${ready.message}` : 'not seen yet by the leader'],
  ['Hindrance', hindrance ? hindrance.message : 'none'],
  ['Next', next ? html`${next.job} ${whenAhead(next.time, nowMs)}` : 'never'],
  ['Last result', lastResult ?? 'none yet'],
  ['Keeps up', scaleUpKeepWindow ? 'yes: a job has scaled up, and none has scaled down since' : 'no'],
  ...missed.map(({ job, count, why }): [string, HtmlPart] => ['Missed', `${job}, ${count} times: ${why}`]),
])}
</section>
<section>
<div class="bar"><h2>Jobs</h2><span class="count">${jobs.length}</span></div>
${table(
  JOB_COLUMNS,
  jobs.map((job) => jobRow(job, nowMs)),
  'It has none.',
)}
</section>`;
}

const STATES: Readonly<Record<string, RowState>> = { Succeed: 'served', Failed: 'failing' };

function jobRow(job: ReturnType<typeof describeCronHpa>['jobs'][number], nowMs: number): Row {
  const state = getOwn(STATES, job.state) ?? 'waiting';
  const notes = [job.neverDueBecause && `never due: ${job.neverDueBecause}`, job.message].filter(Boolean);
  return {
    ...(state === 'failing' && { state }), // that a job is not due yet is no trouble
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
