import { TimeZone } from '#lib/schedule/time-zone.ts';
import { printable } from '#lib/telemetry/printable.ts';
import type { ScaleTargetRef } from '../cron-hpa.ts';

/** What a job moves. */
export type AdjustType = 'scale replicas' | 'hpa min replicas';

/** How an activation went. */
export interface ActivationReport {
  readonly job: string;
  readonly namespace: string;
  readonly target: ScaleTargetRef;
  readonly adjustType: AdjustType;
  /** What was there before, and what is to be there. */
  readonly current: number;
  readonly desired: number;
  readonly atMs: number;
  readonly nextMs: number | undefined;
  readonly timeZone: string;
}

/** A job's message after it has scaled, in the form that users of TKE know. */
export function successMessage(report: ActivationReport): string {
  const { job, namespace, target, adjustType, current, desired } = report;
  return printable(
    `cron hpa job ${job} executed successfully. ` +
      `current scale (namespace:${namespace};kind: ${target.kind};name: ${target.name}) replicas:${current}, ` +
      `desired scale replicas:${desired},adjustType:[${adjustType}]. ${timesOf(report)}`,
  );
}

/** A job's message after it could not scale. */
export function failureMessage(
  report: Pick<ActivationReport, 'job' | 'atMs' | 'nextMs' | 'timeZone'> & { readonly reason: string },
): string {
  return printable(
    `cron hpa job ${report.job} failed to execute, because of ${report.reason}. ${timesOf(report)}`,
  );
}

function timesOf({ atMs, nextMs, timeZone }: Pick<ActivationReport, 'atMs' | 'nextMs' | 'timeZone'>): string {
  return `time:${formatLocal(atMs, timeZone)}, next:${formatLocal(nextMs, timeZone)}`;
}

/** `2019-12-18 23:07:00`, as the clock of a zone shows it. */
export function formatLocal(atMs: number | undefined, timeZone: string): string {
  if (atMs === undefined) return 'none';
  return new Date(TimeZone.named(timeZone).civilMs(atMs)).toISOString().slice(0, 19).replace('T', ' ');
}
