import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Explanation } from '../explanation.ts';
import type { FollowedHpa } from '../followed/followed-hpa.ts';
import type { MemoryStore } from '../memory/memory-store.ts';
import { FIELD_MANAGER } from '../objects/field-manager.ts';
import { spreadOf } from '../spread-of.ts';
import type { AutoMinLog } from './auto-min-log.ts';
import { type AutoMinMode, type AutoMinSettings, autoMinSettings } from './auto-min-settings.ts';
import { judgeWeek, type MinimumChange } from './judge-week.ts';
import { measuredLoads, metricGoals } from './measured-loads.ts';
import { changeMessage } from './minimum-message.ts';
import { dayOf, emptyWeek, startOfDayMs, type Week, withMetricsOf, withPeak } from './week.ts';
import { formatWeek, parseWeek, weekKey } from './week-record.ts';

/** What flags say about it. */
export interface AutoMinOptions {
  /** Of HPAs that say nothing. */
  readonly mode: AutoMinMode;
  /** Of the last seven days, the latest first. */
  readonly weights: readonly number[];
}

/** What a minReplicas that follows the week works with. */
export interface AutoMinDependencies {
  readonly store: Pick<MemoryStore, 'get' | 'put'>;
  readonly hpas: ResourceClient;
  readonly tell: (hpa: FollowedHpa, event: { readonly reason: string; readonly message: string }) => void;
  readonly log: AutoMinLog;
  /** Whether a Cron-HPA holds up the target of an HPA. */
  readonly isHeldUp: (hpa: FollowedHpa) => boolean;
  /** What is known of the days before an HPA was first seen. */
  readonly weekBefore: ((hpa: FollowedHpa, today: number, signal: AbortSignal) => Promise<Week>) | undefined;
  readonly logger: Logger;
  readonly options: AutoMinOptions;
  /** Nothing is told, kept or changed. */
  readonly isDryRun: boolean;
}

interface Known {
  /** As it was seen last. */
  hpa: FollowedHpa;
  week: Week;
  /** What the store has of it. */
  text: string | undefined;
}

/** The peaks of a namespace are kept this often if some have risen; a process that is killed forgets what rose since. */
const KEEP_EVERY_MS = 600_000;
/** HPAs are judged within this time after midnight, not all at once. */
const SPREAD_MS = 3_600_000;

/** Lets the minReplicas of HPAs follow their week, for one term of a leader. */
export class AutoMinReplicas {
  readonly #dependencies: AutoMinDependencies;
  /** By namespace and name. */
  readonly #known = new Map<string, Map<string, Known>>();
  /** When the weeks of a namespace were kept. */
  readonly #keptAtMs = new Map<string, number>();
  /** Whether weeks could not be kept lately, which was told. */
  #isFailing = false;

  constructor(dependencies: AutoMinDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes in a decision, and judges the week once a day. */
  async observe(
    hpa: FollowedHpa,
    explanation: Explanation,
    { nowMs, signal }: { readonly nowMs: number; readonly signal: AbortSignal },
  ): Promise<void> {
    const { log, options, isHeldUp } = this.#dependencies;
    const { namespace, name, annotations = {} } = hpa.metadata;
    const key = `${namespace}/${name}`;
    const settings = autoMinSettings(annotations, options.mode);
    if (settings.problem !== undefined) return log.tell(key, `left alone, for ${settings.problem}`);
    if (settings.mode === 'never') return log.forget(key);
    if (isHeldUp(hpa)) return log.tell(key, 'left alone while a Cron-HPA holds up the target');
    const today = dayOf(nowMs);
    const known = await this.#knownOf(hpa, today, signal);
    known.hpa = hpa;
    known.week = measured(known.week, hpa, { explanation, today });
    const isDue = !isJudged(known.week, today) && nowMs >= startOfDayMs(today) + spreadOf(key) * SPREAD_MS;
    if (isDue) await this.#judge(hpa, known, { settings, today, signal });
    else await this.#keepNamespace(namespace, nowMs);
  }

  /** An HPA is no more. */
  async forget(namespace: string, name: string): Promise<void> {
    const { store, log, isDryRun } = this.#dependencies;
    const others = this.#known.get(namespace);
    others?.delete(name);
    if (others?.size === 0) {
      this.#known.delete(namespace);
      this.#keptAtMs.delete(namespace);
    }
    log.forget(`${namespace}/${name}`);
    if (!isDryRun) await store.put(namespace, weekKey(name), undefined);
  }

  async #knownOf(hpa: FollowedHpa, today: number, signal: AbortSignal): Promise<Known> {
    const { store, weekBefore, logger } = this.#dependencies;
    const { namespace, name, uid } = hpa.metadata;
    const known = this.#known.get(namespace)?.get(name);
    if (known?.hpa.metadata.uid === uid) return known;
    const text = await store.get(namespace, weekKey(name));
    const record = text === undefined ? undefined : parseWeek(text);
    const isOurs = record?.uid === uid;
    const made: Known = {
      hpa,
      week: isOurs ? record.week : emptyWeek(today),
      text: isOurs ? text : undefined,
    };
    const others = this.#known.get(namespace) ?? new Map<string, Known>();
    this.#known.set(namespace, others.set(name, made));
    if (!isOurs && weekBefore) {
      // Deciding does not wait for it.
      weekBefore(hpa, today, signal).then(
        (before) => {
          made.week = joined(before, made.week);
        },
        (error: unknown) => {
          if (!signal.aborted)
            logger.error('Cannot read the week before an HPA was first seen', error, { namespace, name });
        },
      );
    }
    return made;
  }

  async #judge(hpa: FollowedHpa, known: Known, { settings, today, signal }: JudgingOptions): Promise<void> {
    const { options, log, isDryRun } = this.#dependencies;
    const { namespace, name } = hpa.metadata;
    const { minReplicas = 1, maxReplicas } = hpa.spec;
    const goals = metricGoals(hpa.spec);
    const { week } = known;
    const { weights } = options;
    const judgement = judgeWeek({ week, goals, minReplicas, maxReplicas, settings, weights, today });
    known.week = { ...week, judgedDay: today };
    // Kept first: who is killed after it says too little rather than the same again.
    if (!(await this.#keep(known))) {
      known.week = week;
      return;
    }
    if (judgement.kind !== 'change') {
      log.judged(namespace, name, judgement.kind === 'kept' ? minReplicas : undefined);
      return log.tell(`${namespace}/${name}`, `stays ${minReplicas}: ${judgement.why}`);
    }
    log.judged(namespace, name, judgement.to);
    const isApplied = settings.mode === 'apply' && !isDryRun && !isOwned(hpa);
    if (isApplied) await this.#apply(hpa, judgement, signal);
    else this.#told(hpa, judgement, 'MinReplicasRecommended');
  }

  async #apply(hpa: FollowedHpa, change: MinimumChange, signal: AbortSignal): Promise<void> {
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
    this.#told(hpa, change, 'MinReplicasAdjusted');
  }

  #told(hpa: FollowedHpa, change: MinimumChange, reason: string): void {
    const { tell, log, isDryRun } = this.#dependencies;
    const { namespace, name } = hpa.metadata;
    const message = changeMessage(change);
    log.tell(
      `${namespace}/${name}`,
      `${reason === 'MinReplicasAdjusted' ? 'adjusted' : 'recommended'} ${message}`,
    );
    if (!isDryRun) tell(hpa, { reason, message });
  }

  /** Keeps what has risen in a namespace, all of it at once, for it is one object; namespaces at times of their own. */
  async #keepNamespace(namespace: string, nowMs: number): Promise<void> {
    const keptAtMs = this.#keptAtMs.get(namespace);
    if (keptAtMs !== undefined && Math.abs(nowMs - keptAtMs) < KEEP_EVERY_MS) return;
    this.#keptAtMs.set(
      namespace,
      keptAtMs === undefined ? nowMs - spreadOf(namespace) * KEEP_EVERY_MS : nowMs,
    );
    if (keptAtMs === undefined) return;
    await Promise.all([...(this.#known.get(namespace)?.values() ?? [])].map((known) => this.#keep(known)));
  }

  /** @returns whether it is kept */
  async #keep(known: Known): Promise<boolean> {
    const { store, isDryRun, logger } = this.#dependencies;
    if (isDryRun) return true;
    const { metadata, spec } = known.hpa;
    const { namespace, name, uid } = metadata;
    const names = new Set(metricGoals(spec).flatMap((goal) => goal?.metric ?? []));
    known.week = withMetricsOf(known.week, names);
    const text = formatWeek({ uid, week: known.week });
    if (text === known.text) return true;
    try {
      await store.put(namespace, weekKey(name), text);
    } catch (error) {
      if (!this.#isFailing) logger.error('Cannot keep the weeks of HPAs', error, { namespace, name });
      this.#isFailing = true;
      return false; // tried again later
    }
    this.#isFailing = false;
    known.text = text;
    return true;
  }
}

interface JudgingOptions {
  readonly settings: AutoMinSettings;
  readonly today: number;
  readonly signal: AbortSignal;
}

function measured(
  week: Week,
  { spec }: FollowedHpa,
  { explanation, today }: { readonly explanation: Explanation; readonly today: number },
): Week {
  const { minReplicas } = explanation;
  if (explanation.step !== 'metrics' || minReplicas < 1) return week;
  let next = week;
  for (const { metric, load } of measuredLoads(spec, explanation))
    next = withPeak(next, metric, { day: today, load, minReplicas });
  return next;
}

/** What was read of the days before, and what was measured since. */
function joined(before: Week, since: Week): Week {
  let week: Week = { ...since, firstDay: before.firstDay };
  for (const [metric, days] of before.peaks) for (const peak of days) week = withPeak(week, metric, peak);
  return week;
}

/** The owner of an HPA, as a ScaledObject may be, changes its spec alone. */
function isOwned({ metadata: { ownerReferences = [] } }: FollowedHpa): boolean {
  return ownerReferences.some(({ controller }) => controller === true);
}

/** Whether nothing more is to be said today. A day far ahead was told by a clock that was wrong. */
function isJudged({ judgedDay }: Week, today: number): boolean {
  return judgedDay !== undefined && judgedDay >= today && judgedDay <= today + 1;
}
