import { type Check, type Finding, note, ok } from '#lib/doctor/check.ts';
import { Schedules } from '#lib/schedule/schedules.ts';
import { printable } from '#lib/telemetry/printable.ts';
import { formatLocal } from '../cron-hpa-status.ts';
import { dueActivations, planJobs } from '../planned-jobs.ts';
import { type ExaminedCronHpa, type ExaminedCronHpas, failed, subjectOf } from './examination.ts';

/** For so long an activation may be under way, and an object be new. */
const PATIENCE_MS = 60_000;

/** Whether what was due was done, and how the last activations went. */
export function activations(examined: ExaminedCronHpas, { timeZone }: { readonly timeZone: string }): Check {
  return {
    name: 'cronhpa-activations',
    title: 'Activations of CronHorizontalPodAutoscalers',

    async run(context) {
      const schedules = new Schedules();
      const nowMs = context.clock.nowMs();
      return (await examined.readable(context)).flatMap((one) => {
        const found = [
          ...overdue(one, { nowMs, timeZone, schedules }),
          ...failures(one, { nowMs, timeZone, schedules }),
        ];
        return found.length > 0 ? found : [ok(subjectOf(one), lastOf(one))];
      });
    },
  };
}

type Readable = Awaited<ReturnType<ExaminedCronHpas['readable']>>[number];

function overdue(one: Readable, options: Parameters<typeof planJobs>[1]): readonly Finding[] {
  const { object } = one;
  const { nowMs } = options;
  const unattended = (subject: string, seen: string) => [
    failed(subject, seen, { diagnosis: 'cronhpa-unattended', ...namesOf(one) }),
  ];
  if (object.status.observedGeneration === undefined) {
    return nowMs - one.createdAtMs < PATIENCE_MS
      ? [note(subjectOf(one), 'is new')]
      : unattended(subjectOf(one), 'has no status');
  }
  const { run } = dueActivations(planJobs(object, options), { nowMs });
  // What failed is tried again, and told as a failure.
  if (!run || nowMs - run.atMs < PATIENCE_MS || object.status.ready?.status === 'False') return [];
  const { job, timeZone } = run.planned;
  return unattended(
    subjectOf(one, job.name),
    `was due ${formatLocal(run.atMs, timeZone)} ${timeZone}, ${Math.round((nowMs - run.atMs) / 1000)} s ago`,
  );
}

/** How jobs failed that are scheduled; why others are not, their own check says. */
function failures(one: Readable, options: Parameters<typeof planJobs>[1]): readonly Finding[] {
  const { status } = one.object;
  const scheduled = planJobs(one.object, options).filter(({ problem }) => problem === undefined);
  const names = new Set(scheduled.map(({ job }) => job.name));
  return status.jobs
    .filter(({ name, state }) => state === 'Failed' && names.has(name))
    .map(({ name, message }) => {
      const subject = subjectOf(one, name);
      return message.startsWith(printable(`cron hpa job ${name} missed `))
        ? note(subject, message)
        : failed(subject, message, { diagnosis: 'cronhpa-job-failed', ...namesOf(one) });
    });
}

function lastOf({ object }: Readable): string {
  const { lastResult, lastScheduleTime } = object.status;
  return lastResult === undefined
    ? 'has had no activation yet'
    : `${lastResult}, last carried out ${lastScheduleTime ?? 'never'}`;
}

function namesOf({ namespace, name }: ExaminedCronHpa) {
  return { NAMESPACE: namespace, NAME: name };
}
