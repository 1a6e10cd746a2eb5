import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Explanation } from '../explanation.ts';
import type { FollowedHpa } from '../followed/followed-hpa.ts';
import type { MemoryStore } from '../memory/memory-store.ts';
import { FIELD_MANAGER } from '../objects/field-manager.ts';
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
  readonly uid: string;
  week: Week;
  kept: { readonly text: string; readonly atMs: number } | undefined;
}

/** Peaks that rise are kept this often at most; a process that is killed forgets what rose since. */
const KEEP_EVERY_MS = 600_000;
/** HPAs are judged within this time after midnight, not all at once. */
const SPREAD_MS = 3_600_000;

/** Lets the minReplicas of HPAs follow their week, for one term of a leader. */
export class AutoMinReplicas {
  readonly #dependencies: AutoMinDependencies;
  readonly #known = new Map<string, Known>();

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
    known.week = measured(known.week, hpa, { explanation, today });
    const isDue = today > (known.week.judgedDay ?? 0) && nowMs >= startOfDayMs(today) + spreadMs(key);
    if (isDue) await this.#judge(hpa, known, { settings, today, nowMs, signal });
    else if (nowMs - (known.kept?.atMs ?? Number.NEGATIVE_INFINITY) >= KEEP_EVERY_MS)
      await this.#keep(hpa, known, nowMs);
  }

  /** An HPA is no more. */
  async forget(namespace: string, name: string): Promise<void> {
    const { store, log, isDryRun } = this.#dependencies;
    this.#known.delete(`${namespace}/${name}`);
    log.forget(`${namespace}/${name}`);
    if (!isDryRun) await store.put(namespace, weekKey(name), undefined);
  }

  async #knownOf(hpa: FollowedHpa, today: number, signal: AbortSignal): Promise<Known> {
    const { store, weekBefore, logger } = this.#dependencies;
    const { namespace, name, uid } = hpa.metadata;
    const key = `${namespace}/${name}`;
    const known = this.#known.get(key);
    if (known?.uid === uid) return known;
    const text = await store.get(namespace, weekKey(name));
    const record = text === undefined ? undefined : parseWeek(text);
    const isOurs = text !== undefined && record?.uid === uid;
    const made: Known = {
      uid,
      week: isOurs && record ? record.week : emptyWeek(today),
      kept: isOurs ? { text, atMs: Number.NEGATIVE_INFINITY } : undefined,
    };
    this.#known.set(key, made);
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

  async #judge(
    hpa: FollowedHpa,
    known: Known,
    { settings, today, nowMs, signal }: JudgingOptions,
  ): Promise<void> {
    const { options, log, isDryRun } = this.#dependencies;
    const { namespace, name } = hpa.metadata;
    const { minReplicas = 1, maxReplicas } = hpa.spec;
    const goals = metricGoals(hpa.spec);
    const { week } = known;
    const { weights } = options;
    const judgement = judgeWeek({ week, goals, minReplicas, maxReplicas, settings, weights, today });
    known.week = { ...week, judgedDay: today };
    // Kept first: who is killed after it says too little rather than the same again.
    if (!(await this.#keep(hpa, known, nowMs))) {
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

  /** @returns whether it is kept */
  async #keep({ metadata, spec }: FollowedHpa, known: Known, nowMs: number): Promise<boolean> {
    const { store, isDryRun, logger } = this.#dependencies;
    const { namespace, name, uid } = metadata;
    if (isDryRun) return true;
    const names = new Set(metricGoals(spec).flatMap((goal) => goal?.metric ?? []));
    known.week = withMetricsOf(known.week, names);
    const text = formatWeek({ uid, week: known.week });
    if (text !== known.kept?.text) {
      try {
        await store.put(namespace, weekKey(name), text);
      } catch (error) {
        logger.error('Cannot keep the week of an HPA', error, { namespace, name });
        known.kept = { text: known.kept?.text ?? '', atMs: nowMs }; // tried again later
        return false;
      }
    }
    known.kept = { text, atMs: nowMs };
    return true;
  }
}

interface JudgingOptions {
  readonly settings: AutoMinSettings;
  readonly today: number;
  readonly nowMs: number;
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

/** When after midnight an HPA is judged; a number that its key has for good. */
function spreadMs(key: string): number {
  let hash = 0;
  for (let place = 0; place < key.length; place++) hash = (Math.imul(hash, 31) + key.charCodeAt(place)) >>> 0;
  return (hash / 2 ** 32) * SPREAD_MS;
}
