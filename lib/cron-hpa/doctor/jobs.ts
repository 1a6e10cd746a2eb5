import { type Check, type Finding, findingsOr, note, ok } from '#lib/doctor/check.ts';
import { Schedules } from '#lib/schedule/parse-schedule.ts';
import { formatLocal } from '../cron-hpa-status.ts';
import { NEVER_DUE, type PlannedJob, planJobs, REPEATED_NAME } from '../planned-jobs.ts';
import { type ExaminedCronHpa, type ExaminedCronHpas, failed, OBJECTS, subjectOf } from './examination.ts';

/** Checks that each job can become due. */
export function jobs(examined: ExaminedCronHpas, { timeZone }: { readonly timeZone: string }): Check {
  return {
    name: 'cronhpa-jobs',
    title: 'Jobs of CronHorizontalPodAutoscalers',

    async run(context) {
      const schedules = new Schedules();
      const nowMs = context.clock.nowMs();
      const all = await examined.all(context);
      const found = all.flatMap((one) =>
        one.object
          ? planJobs(one.object, { nowMs, timeZone, schedules }).map((planned) =>
              findingOf(one, planned, nowMs),
            )
          : [unreadable(one)],
      );
      return findingsOr(OBJECTS, found, all);
    },
  };
}

function findingOf(one: ExaminedCronHpa, { job, problem, schedule, timeZone }: PlannedJob, nowMs: number) {
  const subject = subjectOf(one, job.name);
  if (problem !== undefined) {
    const { namespace, name } = one;
    return failed(subject, problem, { diagnosis: diagnosisOf(problem), NAMESPACE: namespace, NAME: name });
  }
  if (job.suspend) return note(subject, 'suspended (suspend)');
  const nextMs = schedule?.next(nowMs);
  return nextMs === undefined
    ? note(subject, `completed (${job.runOnce ? 'runOnce' : '@date'})`)
    : ok(subject, `next due ${formatLocal(nextMs, timeZone)} ${timeZone}`);
}

function diagnosisOf(problem: string) {
  if (problem === NEVER_DUE) return 'cronhpa-job-never-due';
  return problem === REPEATED_NAME ? 'cronhpa-job-repeated' : 'cronhpa-schedule-invalid';
}

function unreadable(one: ExaminedCronHpa): Finding {
  return failed(subjectOf(one), one.problem ?? 'malformed', {
    diagnosis: 'cronhpa-unreadable',
    NAMESPACE: one.namespace,
    NAME: one.name,
  });
}
