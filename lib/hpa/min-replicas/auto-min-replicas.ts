import type { EventText } from '#lib/control/event-recorder.ts';
import type { ScaleLog } from '#lib/control/scale-log.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { Hpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import type { Explanation } from '../decision/decision.ts';
import { FIELD_MANAGER } from '../external-controllers.ts';
import { spreadOf } from '../sync-schedule.ts';
import { type AutoMinMode, type AutoMinSettings, autoMinSettings } from './auto-min-settings.ts';
import type { AutoMinLog } from './min-replicas-report.ts';
import { type KeptWeek, KeptWeeks, type KeptWeeksOptions } from './persisted-weeks.ts';
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

/** What flags say about it. */
export interface AutoMinOptions {
  /** Of HPAs that say nothing. */
  readonly mode: AutoMinMode;
  /** Of the last seven days, the latest first. */
  readonly weights: readonly number[];
}

/** What a minReplicas that follows the week works with. */
export interface AutoMinDependencies extends KeptWeeksOptions {
  readonly hpas: Pick<ResourceClient, 'patch'>;
  readonly scaleLog: Pick<ScaleLog, 'minReplicasChanged'>;
  readonly tell: (hpa: Hpa, event: EventText) => void;
  readonly log: AutoMinLog;
  /** Whether a Cron-HPA holds up the target of an HPA. */
  readonly isHeldUp: (hpa: Hpa) => boolean;
  readonly options: AutoMinOptions;
}

/** HPAs are judged within this time after midnight, not all at once. */
const SPREAD_MS = 3_600_000;

/** Lets the minReplicas of HPAs follow their week, for one term of a leader. */
export class AutoMinReplicas {
  readonly #dependencies: AutoMinDependencies;
  readonly #weeks: KeptWeeks;
  /** What was told of annotations, by HPA. */
  readonly #problems = new Map<string, string>();

  constructor(dependencies: AutoMinDependencies) {
    this.#dependencies = dependencies;
    this.#weeks = new KeptWeeks(dependencies);
  }

  /** Takes in a decision, and judges the week once a day. */
  async observe(
    hpa: Hpa,
    explanation: Explanation,
    { nowMs, signal }: { readonly nowMs: number; readonly signal: AbortSignal },
  ): Promise<void> {
    const { log, options, isHeldUp } = this.#dependencies;
    const { namespace, name, annotations = {} } = hpa.metadata;
    const key = `${namespace}/${name}`;
    const settings = autoMinSettings(annotations, options.mode);
    this.#problem(hpa, settings.problem);
    if (settings.problem !== undefined) return log.tell(key, `left alone, for ${settings.problem}`);
    if (settings.mode === 'never') return log.forget(key);
    if (isHeldUp(hpa)) return log.tell(key, 'left alone while a Cron-HPA holds up the target');
    const today = dayOf(nowMs);
    const known = await this.#weeks.of(hpa, { nowMs, signal }).catch(() => signal.throwIfAborted());
    if (!known) return log.tell(key, 'left alone while it cannot be read what is known of the week');
    known.week = measured(known.week, hpa, { explanation, today });
    const isDue =
      !isJudged(known.week, today) &&
      nowMs >= startOfDayMs(today) + spreadOf(key) * SPREAD_MS &&
      known.before !== 'asked'; // what is being read may change what the day says
    if (isDue) await this.#judge(hpa, known, { settings, today, signal });
    else await this.#weeks.keepNamespace(namespace, nowMs);
  }

  /** An HPA is no more. */
  async forget(namespace: string, name: string): Promise<void> {
    this.#dependencies.log.forget(`${namespace}/${name}`);
    this.#problems.delete(`${namespace}/${name}`);
    await this.#weeks.forget(namespace, name);
  }

  /** Tells once why an annotation counts for nothing. */
  #problem(hpa: Hpa, message: string | undefined): void {
    const { tell, isDryRun } = this.#dependencies;
    const key = `${hpa.metadata.namespace}/${hpa.metadata.name}`;
    const isNew = message !== this.#problems.get(key);
    if (message === undefined) this.#problems.delete(key);
    else this.#problems.set(key, message);
    if (isNew && message !== undefined && !isDryRun)
      tell(hpa, { type: 'Warning', reason: 'InvalidAutoMinReplicas', message });
  }

  async #judge(hpa: Hpa, known: KeptWeek, { settings, today, signal }: JudgingOptions): Promise<void> {
    const { options, log, isDryRun } = this.#dependencies;
    const { namespace, name } = hpa.metadata;
    const { minReplicas = 1, maxReplicas } = hpa.spec;
    const goals = metricGoals(hpa.spec);
    const { week } = known;
    const { weights } = options;
    const judgement = judgeWeek({ week, goals, minReplicas, maxReplicas, settings, weights, today });
    known.week = { ...week, judgedDay: today };
    // Kept first: who is killed after it says too little rather than the same again.
    if (!(await this.#weeks.keep(known))) {
      known.week = { ...known.week, judgedDay: week.judgedDay }; // more may have come to it meanwhile
      return;
    }
    if (judgement.kind !== 'change') {
      log.judged(namespace, name, judgement.kind === 'kept' ? minReplicas : undefined);
      return log.tell(`${namespace}/${name}`, `stays ${minReplicas}: ${judgement.why}`);
    }
    log.judged(namespace, name, judgement.to);
    const isToApply = settings.mode === 'apply' && !isOwned(hpa);
    if (isToApply && !isDryRun) return await this.#apply(hpa, judgement, signal);
    if (isToApply) this.#log(hpa, judgement); // what it would do
    this.#told(hpa, judgement, 'MinReplicasRecommended');
  }

  async #apply(hpa: Hpa, change: MinimumChange, signal: AbortSignal): Promise<void> {
    const { hpas, log, logger } = this.#dependencies;
    const { namespace, name } = hpa.metadata;
    const path = '/spec/minReplicas';
    const body = [
      { op: 'test', path, value: change.from }, // nobody has changed it meanwhile
      { op: 'replace', path, value: change.to },
    ] as const;
    try {
      await hpas.patch({ namespace, name }, { type: 'json', body }, { fieldManager: FIELD_MANAGER, signal });
    } catch (error) {
      signal.throwIfAborted();
      logger.error('Cannot adjust the minReplicas of an HPA', error, { namespace, name });
      return log.tell(`${namespace}/${name}`, `not adjusted, for that failed: ${changeMessage(change)}`);
    }
    log.adjusted(namespace, name);
    this.#log(hpa, change);
    this.#told(hpa, change, 'MinReplicasAdjusted');
  }

  #log({ metadata: { namespace, name } }: Hpa, change: MinimumChange): void {
    const cause = {
      by: `hpa ${name}`,
      why: `peaks of ${change.metric} in the last ${change.peaks.length} days`,
    };
    this.#dependencies.scaleLog.minReplicasChanged(`${namespace}/${name}`, change, cause);
  }

  #told(hpa: Hpa, change: MinimumChange, reason: string): void {
    const { tell, log, isDryRun } = this.#dependencies;
    const { namespace, name } = hpa.metadata;
    const message = changeMessage(change);
    log.tell(
      `${namespace}/${name}`,
      `${reason === 'MinReplicasAdjusted' ? 'adjusted' : 'recommended'} ${message}`,
    );
    if (!isDryRun) tell(hpa, { type: 'Normal', reason, message });
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

/** The owner of an HPA, as a ScaledObject may be, changes its spec alone. */
function isOwned({ metadata: { ownerReferences = [] } }: Hpa): boolean {
  return ownerReferences.some(({ controller }) => controller === true);
}

/** Whether nothing more is to be said today. A day far ahead was told by a clock that was wrong. */
function isJudged({ judgedDay }: Week, today: number): boolean {
  return judgedDay !== undefined && judgedDay >= today && judgedDay <= today + 1;
}

/** Tells a change of a minimum: from, to, the metric, the peaks of the days and how heavily they count. */
export function changeMessage({ from, to, metric, peaks, weights, mean, target }: MinimumChange): string {
  const days = peaks.map((peak) => (peak === undefined ? '-' : numberText(peak))).join(' ');
  return (
    `minReplicas from ${from} to ${to}: the peaks of ${metric} in the last ${peaks.length} days, the latest first, were ` +
    `${days} (weights ${weights.join(' ')}), ${numberText(mean)} in the mean of a target of ${numberText(target)}`
  );
}

function numberText(value: number): string {
  return `${Number(value.toPrecision(3))}`;
}
