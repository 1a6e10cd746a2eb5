import type { ComposerWork, Composition } from '#lib/ui/composer.ts';
import { type Field, FormValues, renderField } from '#lib/ui/form.ts';
import { type Html, html } from '#lib/ui/html.ts';
import { OBJECT_FIELDS, readObjectFields, warnOfTarget } from '#lib/ui/object-fields.ts';
import { type Column, table } from '#lib/ui/table.ts';
import { CRON_HPA, readCronHpa } from '../cron-hpa.ts';
import { type PlannedJob, planJobs } from '../planned-jobs.ts';
import { findBlocker } from '../target-conflicts.ts';
import type { DebuggedCronHpas } from './debug-cron-hpas.ts';

/** Rows of the form; the API takes more. */
const MAX_JOBS = 10;
const MIN_ROWS = 2;
const MORE_JOBS =
  'To add another job, fill in this row and choose Make YAML: the form then has another empty row.';

interface JobFields {
  readonly name: Field;
  readonly schedule: Field;
  readonly size: Field;
  readonly timeZone: Field;
}

function jobFields(index: number): JobFields {
  const n = index + 1;
  return {
    name: { name: `job${n}`, label: `Job ${n}`, placeholder: index === 0 ? 'morning' : 'evening' },
    schedule: {
      ...{
        name: `schedule${n}`,
        label: 'Schedule',
        placeholder: index === 0 ? '0 8 * * MON-FRI' : '0 20 * * *',
      },
      hint: 'Minute, hour, day, month, weekday. A schedule with six fields begins with the second.',
    },
    size: { name: `size${n}`, label: 'Replicas', placeholder: index === 0 ? '10' : '2' },
    timeZone: {
      name: `zone${n}`,
      label: 'Time zone',
      placeholder: 'Europe/Berlin',
      hint: 'By default, the time zone of the autoscaler.',
    },
  };
}

/** Makes a Cron-HPA from a form, checked as the controller and its doctor check it, with its next activations. */
export async function composeCronHpa(
  query: URLSearchParams,
  work: ComposerWork,
  source: DebuggedCronHpas,
): Promise<Composition> {
  const values = new FormValues(query);
  const { metadata, target } = readObjectFields(values);
  const rows = Array.from({ length: MAX_JOBS }, (_, index) => jobFields(index));
  const isFilled = (row: JobFields) => Object.values(row).some((field) => values.text(field) !== '');
  const filled = rows.filter(isFilled);
  if (filled.length === 0) values.report('job1', 'at least one job is required');
  const jobs = filled.map((row) => readJob(row, values));
  const { group, version, kind } = CRON_HPA;
  const manifest = {
    apiVersion: `${group}/${version}`,
    ...{ kind, metadata, spec: { scaleTargetRef: target, jobs } },
  };
  const checked = jobs.map((job) => ({ ...job, targetSize: job.targetSize ?? 0 })); // its absence is reported already
  const object = readCronHpa({
    ...{ ...manifest, spec: { ...manifest.spec, jobs: checked } },
    metadata: { ...metadata, uid: '', resourceVersion: '' },
  });
  if (object?.problem !== undefined) values.reportGeneral(object.problem);
  let planned: readonly PlannedJob[] = [];
  if (object && object.problem === undefined) {
    await work.turn();
    planned = planJobs(object, { ...source.planOptions(), nowMs: work.nowMs });
    planned.forEach(({ problem }, index) => {
      const { name, schedule } = filled[index] ?? jobFields(index);
      if (problem !== undefined && values.text(schedule) !== '')
        values.report(problem.includes('name') ? name.name : schedule.name, problem);
    });
    const blocker = findBlocker(object, source.others(object));
    if (blocker) values.reportGeneral(blocker.message);
  }
  await warnOfTarget(values, { ...target, namespace: metadata.namespace }, work);
  const isValid = object !== undefined && !values.hasProblems;
  const shown = rows.filter((row, index) => index < Math.max(MIN_ROWS, filled.length + 1) || isFilled(row));
  const last = shown.at(-1) === rows.at(-1) ? undefined : shown.at(-1)?.name;
  const hinted = (field: Field) => (field === last ? { ...field, hint: MORE_JOBS } : field);
  return {
    fields: html`${OBJECT_FIELDS.map((field) => renderField(field, values))}${shown.map((row) => Object.values(row).map((field: Field) => renderField(hinted(field), values)))}`,
    problems: values.general,
    warnings: [],
    manifest: isValid ? manifest : undefined,
    preview: isValid ? await renderActivations(planned, work) : undefined,
  };
}

function readJob({ name, schedule, size, timeZone }: JobFields, values: FormValues) {
  const [zone, targetSize] = [values.text(timeZone), values.whole(size)];
  for (const field of [name, schedule])
    if (values.text(field) === '') values.report(field.name, 'is missing');
  if (targetSize === undefined) values.report(size.name, 'is missing');
  return {
    name: values.text(name),
    schedule: values.text(schedule),
    targetSize,
    ...(zone !== '' && { timeZone: zone }),
  };
}

const SHOWN_ACTIVATIONS = 10;
const COLUMNS: readonly Column[] = [
  { title: 'Time (UTC)', className: 'name' },
  { title: 'Local time', className: 'faint' },
  { title: 'Job' },
  { title: 'Replicas', className: 'number' },
];

/** Lists the next activations of all jobs. */
async function renderActivations(
  planned: readonly PlannedJob[],
  { turn, nowMs }: ComposerWork,
): Promise<Html> {
  const activations: { readonly atMs: number; readonly planned: PlannedJob }[] = [];
  for (const one of planned) {
    await turn();
    let atMs = one.schedule?.next(nowMs);
    for (let count = 0; count < SHOWN_ACTIVATIONS && atMs !== undefined; count++) {
      activations.push({ atMs, planned: one });
      atMs = one.schedule?.next(atMs);
    }
  }
  const next = activations.sort((a, b) => a.atMs - b.atMs).slice(0, SHOWN_ACTIVATIONS);
  const rows = next.map(({ atMs, planned: { job, timeZone } }) => ({
    cells: [utcTime(atMs), `${localTime(atMs, timeZone)} ${timeZone}`, job.name, job.targetSize],
  }));
  return html`<h3>Next activations</h3>
${table(COLUMNS, rows, 'Never.')}`;
}

function utcTime(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 19).replace('T', ' ');
}

/** @param timeZone one that the schedule has accepted */
function localTime(atMs: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone, weekday: 'short', day: '2-digit', month: 'short', hour: '2-digit', minute: '2-digit' },
  });
  return format.format(new Date(atMs));
}
