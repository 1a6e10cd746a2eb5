import { type Check, type Finding, findingsOr, note, ok } from '#lib/doctor/check.ts';
import { Schedules } from '#lib/schedule/parse-schedule.ts';
import { printable } from '#lib/telemetry/printable.ts';
import { formatLocal } from '../cron-hpa-status.ts';
import { dueActivations, planJobs } from '../planned-jobs.ts';
import { type ExaminedCronHpa, type ExaminedCronHpas, failed, OBJECTS, subjectOf } from './examination.ts';

/** Grace period for an activation in progress, and for a new object. */
const GRACE_PERIOD_MS = 60_000;

/** Checks that due activations ran, and the results of the last ones. */
export function activations(examined: ExaminedCronHpas, { timeZone }: { readonly timeZone: string }): Check {
  return {
    name: 'cronhpa-activations',
    title: 'Activations of CronHorizontalPodAutoscalers',

    async run(context) {
      const schedules = new Schedules();
      const nowMs = context.clock.nowMs();
      const found = (await examined.readable(context)).flatMap((one) => {
        const problems = [
          ...overdue(one, { nowMs, timeZone, schedules }),
          ...failures(one, { nowMs, timeZone, schedules }),
        ];
        return problems.length > 0 ? problems : [ok(subjectOf(one), lastOf(one))];
      });
      return findingsOr(OBJECTS, found, await examined.all(context));
    },
  };
}

type Readable = Awaited<ReturnType<ExaminedCronHpas['readable']>>[number];

function overdue(one: Readable, options: Parameters<typeof planJobs>[1]): readonly Finding[] {
  const { object } = one;
  const { nowMs } = options;
  const notRun = (subject: string, finding: string) => [
    failed(subject, finding, { diagnosis: 'cronhpa-unattended', ...namesOf(one) }),
  ];
  if (object.status.observedGeneration === undefined) {
    return nowMs - one.createdAtMs < GRACE_PERIOD_MS
      ? [note(subjectOf(one), 'was created less than a minute ago')]
      : notRun(subjectOf(one), 'has no status');
  }
  const { run } = dueActivations(planJobs(object, options), { nowMs });
  // A failed activation is retried, and reported as a failure.
  if (!run || nowMs - run.atMs < GRACE_PERIOD_MS || object.status.ready?.status === 'False') return [];
  const { job, timeZone } = run.planned;
  return notRun(
    subjectOf(one, job.name),
    `was due ${formatLocal(run.atMs, timeZone)} ${timeZone}, ${Math.round((nowMs - run.atMs) / 1000)} s ago`,
  );
}

/** Failures of scheduled jobs; the check `cronhpa-jobs` reports jobs that are not scheduled. */
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
    ? 'no activation yet'
    : `${lastResult}, last run ${lastScheduleTime ?? 'never'}`;
}

function namesOf({ namespace, name }: ExaminedCronHpa) {
  return { NAMESPACE: namespace, NAME: name };
}
