import { copyString } from '#lib/cache/interner.ts';
import type { Hpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import type { Explanation, Outcome } from '../decision/decision.ts';
import type { MetricExplanation } from '../decision/evaluate-metrics.ts';
import type { OtherController } from '../external-controllers.ts';

/** One decision in short. */
export interface LoggedDecision {
  readonly atMs: number;
  readonly step: string;
  readonly currentReplicas: number | undefined;
  /** What the metrics asked for. */
  readonly proposedReplicas: number | undefined;
  readonly desiredReplicas: number | undefined;
  /** Whether the scale was written. */
  readonly isScaled: boolean;
  /** In a dry run: whether the status, which another controller writes, asks for as many. */
  readonly agrees?: boolean;
  readonly error?: string;
}

/** What is known of one HPA's decisions. */
export interface HpaDecisions {
  readonly namespace: string;
  readonly name: string;
  /** The latest in full. */
  readonly explanation: Explanation | undefined;
  /** Another controller, where the HPA was left alone because of it. */
  readonly other: OtherController | undefined;
  /** The latest ones, the first being the oldest. */
  readonly decisions: readonly LoggedDecision[];
  /** How metrics compared with their targets at the latest of these. */
  readonly loads: LoadHistory | undefined;
  /** Since when a metric is missing, the target has all that it may have, or neither. */
  readonly missingSinceMs: number | undefined;
  readonly atMaxSinceMs: number | undefined;
  /** Why an annotation of the HPA counts for nothing. */
  readonly problem?: string;
}

const MOST_DECISIONS = 50;
/** Fifty of each HPA are kept; the latest explanation has it in full. */
const LONGEST_ERROR = 500;

/** The latest decisions of each HPA, for people who ask why. */
export class DecisionLog {
  readonly #hpas = new Map<string, HpaDecisions>();

  get size(): number {
    return this.#hpas.size;
  }

  /** @param key `namespace/name` */
  find(key: string): HpaDecisions | undefined {
    return this.#hpas.get(key);
  }

  values(): Iterable<HpaDecisions> {
    return this.#hpas.values();
  }

  record(
    key: string,
    { explanation, desiredReplicas, error }: Outcome,
    {
      hpa,
      isDryRun,
      problem,
    }: { readonly hpa: Hpa; readonly isDryRun: boolean; readonly problem?: string | undefined },
  ): void {
    const { namespace, name } = hpa.metadata;
    const before = this.#hpas.get(key);
    const { atMs } = explanation;
    const decision: LoggedDecision = {
      atMs,
      step: explanation.step,
      currentReplicas: explanation.currentReplicas,
      proposedReplicas: explanation.proposedReplicas,
      desiredReplicas: explanation.desiredReplicas,
      isScaled: desiredReplicas !== undefined && !isDryRun,
      ...(isDryRun && { agrees: explanation.desiredReplicas === hpa.status?.desiredReplicas }),
      ...(error !== undefined && { error: sameText(before?.decisions.at(-1)?.error, error) }),
    };
    const isMissing = explanation.metrics.some(({ failure }) => failure !== undefined);
    const isAtMax = explanation.desiredReplicas === explanation.maxReplicas;
    const loads = LoadHistory.after(before?.loads, explanation.metrics, MOST_DECISIONS);
    loads.record(explanation.metrics);
    this.#hpas.set(key, {
      namespace,
      name,
      explanation,
      other: undefined,
      loads,
      decisions: [...(before?.decisions ?? []), decision].slice(-MOST_DECISIONS),
      missingSinceMs: isMissing ? (before?.missingSinceMs ?? atMs) : undefined,
      atMaxSinceMs: isAtMax ? (before?.atMaxSinceMs ?? atMs) : undefined,
      ...(problem !== undefined && { problem }),
    });
  }

  /** An HPA was left alone because another controller acts on it. */
  steppedAside(key: string, other: OtherController, atMs: number): void {
    const before = this.#hpas.get(key);
    const [namespace = '', name = ''] = key.split('/');
    const decision: LoggedDecision = {
      atMs,
      step: 'controlled-elsewhere',
      isScaled: false,
      currentReplicas: undefined,
      proposedReplicas: undefined,
      desiredReplicas: undefined,
    };
    before?.loads?.record([]);
    this.#hpas.set(key, {
      namespace,
      name,
      other,
      explanation: before?.explanation,
      loads: before?.loads,
      decisions: [...(before?.decisions ?? []), decision].slice(-MOST_DECISIONS),
      missingSinceMs: undefined,
      atMaxSinceMs: undefined,
    });
  }

  forget(key: string): void {
    this.#hpas.delete(key);
  }

  /** Nothing is decided here any more. */
  clear(): void {
    this.#hpas.clear();
  }
}

/** An error as far as it is told; while it is that of the decision before, the very same text: there are fifty of each HPA. */
function sameText(before: string | undefined, error: string): string {
  const text = shortened(error, LONGEST_ERROR);
  return text === before ? before : text;
}

/** Of more metrics of one HPA nothing is kept. */
const MOST_METRICS = 20;

/**
 * How the metrics of one HPA compared with their targets at its latest decisions. Many HPAs are followed, so this is four
 * bytes a metric and decision.
 */
export class LoadHistory {
  /** The metrics, by their names, in the order of the HPA. */
  readonly metrics: readonly string[];
  readonly #places: number;
  readonly #ratios: Float32Array;
  #count = 0;

  constructor(metrics: readonly string[], places: number) {
    this.metrics = metrics;
    this.#places = places;
    this.#ratios = new Float32Array(metrics.length * places);
  }

  /** The history to go on with: that of before, unless the HPA has other metrics now. */
  static after(
    before: LoadHistory | undefined,
    explained: readonly MetricExplanation[],
    places: number,
  ): LoadHistory {
    const names = explained.slice(0, MOST_METRICS).map(({ name }) => name);
    if (before && (names.length === 0 || names.join('\n') === before.metrics.join('\n'))) return before;
    return new LoadHistory(names, places);
  }

  /** Notes one decision; without metrics where they were not looked at. */
  record(explained: readonly MetricExplanation[]): void {
    const offset = (this.#count++ % this.#places) * this.metrics.length;
    for (const place of this.metrics.keys())
      this.#ratios[offset + place] = explained[place]?.proposal?.ratio ?? Number.NaN;
  }

  /** Values over targets of one metric at the latest decisions, the first being the oldest; `undefined` where unknown. */
  ratiosOf(metric: number): readonly (number | undefined)[] {
    const kept = Math.min(this.#count, this.#places);
    return Array.from({ length: kept }, (_, index) => {
      const place = (this.#count - kept + index) % this.#places;
      const ratio = this.#ratios[place * this.metrics.length + metric];
      return ratio === undefined || Number.isNaN(ratio) ? undefined : ratio;
    });
  }

  /** By metric, as JSON tells it. */
  toJSON(): readonly object[] {
    return this.metrics.map((metric, place) => ({
      metric,
      ratios: this.ratiosOf(place).map((ratio) =>
        ratio === undefined ? null : Math.round(ratio * 1e6) / 1e6,
      ),
    }));
  }
}

/** A text of others as far as it is shown: of a longer one how it begins, and how much was left out. */
export function shortened(text: string, mostCharacters: number): string {
  if (text.length <= mostCharacters) return text;
  const shown = copyString(text.slice(0, mostCharacters).toWellFormed()); // who keeps it is not to keep all of the text
  return `${shown}… and ${text.length - mostCharacters} more characters`;
}
