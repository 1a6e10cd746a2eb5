import type { EventText } from '#lib/control/event-recorder.ts';
import type { ScaleLog } from '#lib/control/scale-log.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { Hpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import type { Explanation } from '../decision/decision.ts';
import { FIELD_MANAGER } from '../external-controllers.ts';
import { spreadOf } from '../sync-schedule.ts';
import { type AutoMinMode, type AutoMinSettings, autoMinSettings } from './auto-min-settings.ts';
import type { MinReplicasReport } from './min-replicas-report.ts';
import { type CachedWeek, PersistedWeeks, type PersistedWeeksOptions } from './persisted-weeks.ts';
import {
  dayOf,
  judgeWeek,
  type MinimumChange,
  measuredLoads,
  metricGoals,
  startOfDayMs,
  type Week,
  withPeak,
} from './recommended-minimum.ts';

/** Flags of automatic minReplicas. */
export interface AutoMinOptions {
  /** The mode of HPAs without the annotation. */
  readonly mode: AutoMinMode;
  /** Weights of the last seven days, latest first. */
  readonly weights: readonly number[];
}

export interface AutoMinDependencies extends PersistedWeeksOptions {
  readonly hpas: Pick<ResourceClient, 'patch'>;
  readonly scaleLog: Pick<ScaleLog, 'minReplicasChanged'>;
  readonly recordEvent: (hpa: Hpa, event: EventText) => void;
  readonly log: MinReplicasReport;
  /** Whether a Cron-HPA has scaled up the target of an HPA, or holds its size. */
  readonly isPinned: (hpa: Hpa) => boolean;
  readonly options: AutoMinOptions;
}

/** HPAs are evaluated within this time after midnight UTC, not all at once. */
const SPREAD_MS = 3_600_000;

/** Adapts minReplicas of HPAs to their last week, for one leadership term. */
export class AutoMinReplicas {
  readonly #dependencies: AutoMinDependencies;
  readonly #weeks: PersistedWeeks;
  /** Reported annotation problems, by HPA. */
  readonly #problems = new Map<string, string>();

  constructor(dependencies: AutoMinDependencies) {
    this.#dependencies = dependencies;
    this.#weeks = new PersistedWeeks(dependencies);
  }

  /** Records a decision, and evaluates the week once a day. */
  async observe(
    hpa: Hpa,
    explanation: Explanation,
    { nowMs, signal }: { readonly nowMs: number; readonly signal: AbortSignal },
  ): Promise<void> {
    const { log, options, isPinned } = this.#dependencies;
    const { namespace, name, annotations = {} } = hpa.metadata;
    const key = `${namespace}/${name}`;
    const settings = autoMinSettings(annotations, options.mode);
    this.#problem(hpa, settings.problem);
    if (settings.problem !== undefined) return log.report(key, `not changed: ${settings.problem}`);
    if (settings.mode === 'never') return log.remove(key);
    if (isPinned(hpa))
      return log.report(key, 'not changed while a Cron-HPA has scaled up the target or holds its size');
    const today = dayOf(nowMs);
    const cached = await this.#weeks.get(hpa, { nowMs, signal }).catch(() => signal.throwIfAborted());
    if (!cached) return log.report(key, 'not changed while the persisted week cannot be read');
    cached.week = measured(cached.week, hpa, { explanation, today });
    const isDue =
      !isJudged(cached.week, today) &&
      nowMs >= startOfDayMs(today) + spreadOf(key) * SPREAD_MS &&
      cached.before !== 'pending'; // the query in progress may change the result
    if (isDue) await this.#judge(hpa, cached, { settings, today, signal });
    else await this.#weeks.persistNamespace(namespace, nowMs);
  }

  /** Removes a deleted HPA. */
  async remove(namespace: string, name: string): Promise<void> {
    this.#dependencies.log.remove(`${namespace}/${name}`);
    this.#problems.delete(`${namespace}/${name}`);
    await this.#weeks.remove(namespace, name);
  }

  /** Reports an invalid annotation once. */
  #problem(hpa: Hpa, message: string | undefined): void {
    const { recordEvent, isDryRun } = this.#dependencies;
    const key = `${hpa.metadata.namespace}/${hpa.metadata.name}`;
    const isNew = message !== this.#problems.get(key);
    if (message === undefined) this.#problems.delete(key);
    else this.#problems.set(key, message);
    if (isNew && message !== undefined && !isDryRun)
      recordEvent(hpa, { type: 'Warning', reason: 'InvalidAutoMinReplicas', message });
  }

  async #judge(hpa: Hpa, cached: CachedWeek, { settings, today, signal }: JudgingOptions): Promise<void> {
    const { options, log, isDryRun } = this.#dependencies;
    const { namespace, name } = hpa.metadata;
    const { minReplicas = 1, maxReplicas } = hpa.spec;
    const goals = metricGoals(hpa.spec);
    const { week } = cached;
    const { weights } = options;
    const judgement = judgeWeek({ week, goals, minReplicas, maxReplicas, settings, weights, today });
    cached.week = { ...week, judgedDay: today };
    // A change is persisted first: a process killed in between reports too little rather than twice. Other weeks are
    // persisted with those of their namespace, as thousands of HPAs are evaluated after a start.
    if (judgement.kind === 'change' && !(await this.#weeks.persist(cached))) {
      cached.week = { ...cached.week, judgedDay: week.judgedDay }; // it may have changed meanwhile
      return;
    }
    if (judgement.kind !== 'change') {
      log.judged(namespace, name, judgement.kind === 'unchanged' ? minReplicas : undefined);
      return log.report(`${namespace}/${name}`, `stays ${minReplicas}: ${judgement.why}`);
    }
    log.judged(namespace, name, judgement.to);
    const isToApply = settings.mode === 'apply' && !isOwned(hpa);
    if (isToApply && !isDryRun) return await this.#apply(hpa, judgement, signal);
    if (isToApply) this.#log(hpa, judgement); // the dry run logs the change
    this.#reportChange(hpa, judgement, 'MinReplicasRecommended');
  }

  async #apply(hpa: Hpa, change: MinimumChange, signal: AbortSignal): Promise<void> {
    const { hpas, log, logger } = this.#dependencies;
    const { namespace, name } = hpa.metadata;
    const path = '/spec/minReplicas';
    const body = [
      { op: 'test', path, value: change.from }, // fails if it changed meanwhile
      { op: 'replace', path, value: change.to },
    ] as const;
    try {
      await hpas.patch({ namespace, name }, { type: 'json', body }, { fieldManager: FIELD_MANAGER, signal });
    } catch (error) {
      signal.throwIfAborted();
      logger.error('Cannot change minReplicas of HPA', error, { namespace, name });
      return log.report(
        `${namespace}/${name}`,
        `not changed, because the write failed: ${changeMessage(change)}`,
      );
    }
    log.adjusted(namespace, name);
    this.#log(hpa, change);
    this.#reportChange(hpa, change, 'MinReplicasAdjusted');
  }

  #log({ metadata: { namespace, name } }: Hpa, change: MinimumChange): void {
    const cause = {
      by: `hpa ${name}`,
      why: `peaks of ${change.metric} in the last ${change.peaks.length} days`,
    };
    this.#dependencies.scaleLog.minReplicasChanged(`${namespace}/${name}`, change, cause);
  }

  #reportChange(hpa: Hpa, change: MinimumChange, reason: string): void {
    const { recordEvent, log, isDryRun } = this.#dependencies;
    const { namespace, name } = hpa.metadata;
    const message = changeMessage(change);
    log.report(
      `${namespace}/${name}`,
      `${reason === 'MinReplicasAdjusted' ? 'adjusted' : 'recommended'} ${message}`,
    );
    if (!isDryRun) recordEvent(hpa, { type: 'Normal', reason, message });
  }
}

interface JudgingOptions {
  readonly settings: AutoMinSettings;
  readonly today: number;
  readonly signal: AbortSignal;
}

function measured(
  week: Week,
  { spec }: Hpa,
  { explanation, today }: { readonly explanation: Explanation; readonly today: number },
): Week {
  const { minReplicas } = explanation;
  if (explanation.step !== 'metrics' || minReplicas < 1) return week;
  let next = week;
  for (const { metric, load } of measuredLoads(spec, explanation))
    next = withPeak(next, metric, { day: today, load, minReplicas });
  return next;
}

/** The owner of an HPA, such as a ScaledObject, manages its spec. */
function isOwned({ metadata: { ownerReferences = [] } }: Hpa): boolean {
  return ownerReferences.some(({ controller }) => controller === true);
}

/** Whether today was evaluated. A day far ahead was recorded by a wrong clock. */
function isJudged({ judgedDay }: Week, today: number): boolean {
  return judgedDay !== undefined && judgedDay >= today && judgedDay <= today + 1;
}

/** Describes a change of minReplicas with the metric, daily peaks and weights. */
export function changeMessage({ from, to, metric, peaks, weights, mean, target }: MinimumChange): string {
  const days = peaks.map((peak) => (peak === undefined ? '-' : numberText(peak))).join(' ');
  return (
    `minReplicas from ${from} to ${to}: daily peaks of ${metric} in the last ${peaks.length} days, latest first: ` +
    `${days} (weights ${weights.join(' ')}); weighted average ${numberText(mean)}, target ${numberText(target)}`
  );
}

function numberText(value: number): string {
  return `${Number(value.toPrecision(3))}`;
}
