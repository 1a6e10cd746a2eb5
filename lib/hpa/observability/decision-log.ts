import { copyString } from '#lib/cache/interner.ts';
import type { HpaCondition } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { Hpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import type { Explanation, Outcome } from '../decision/decision.ts';
import type { MetricExplanation } from '../decision/evaluate-metrics.ts';
import type { ExternalController } from '../external-controllers.ts';

/** A short record of one decision. */
export interface LoggedDecision {
  readonly atMs: number;
  readonly step: string;
  readonly currentReplicas: number | undefined;
  /** The proposal of the metrics. */
  readonly proposedReplicas: number | undefined;
  readonly desiredReplicas: number | undefined;
  /** Whether the scale was written. */
  readonly isScaled: boolean;
  /** In a dry run: whether the status of the other controller has the same replicas. */
  readonly agrees?: boolean;
  readonly error?: string;
}

/** The recorded decisions of one HPA. */
export interface HpaDecisions {
  readonly namespace: string;
  readonly name: string;
  /** The calculation of the latest decision. */
  readonly explanation: Explanation | undefined;
  /** The other controller that manages the HPA, if any. */
  readonly other: ExternalController | undefined;
  /** The latest decisions, oldest first. */
  readonly decisions: readonly LoggedDecision[];
  /** Ratios of metrics to their targets at these decisions. */
  readonly loads: LoadHistory | undefined;
  /** Since when a metric is missing, the target is at its maximum, or neither. */
  readonly missingSinceMs: number | undefined;
  readonly atMaxSinceMs: number | undefined;
  /** The condition that reports why the HPA does not scale, if any; its message is shortened. */
  readonly falseCondition?: HpaCondition;
  /** Why an annotation of the HPA is invalid. */
  readonly problem?: string;
}

const MAX_DECISIONS = 50;
/** Bounds memory: there are 50 of each HPA, and the latest explanation has the whole error. */
const MAX_ERROR_LENGTH = 500;

/** Records the latest decisions of each HPA. */
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
    { explanation, desiredReplicas, error, status }: Outcome,
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
    const falseCondition = status.conditions?.find(
      ({ type, status }) => SCALING_CONDITIONS.includes(type) && status === 'False',
    );
    const isAtMax = explanation.desiredReplicas === explanation.maxReplicas;
    const loads = LoadHistory.after(before?.loads, explanation.metrics, MAX_DECISIONS);
    loads.record(explanation.metrics);
    this.#hpas.set(key, {
      namespace,
      name,
      explanation,
      other: undefined,
      loads,
      decisions: [...(before?.decisions ?? []), decision].slice(-MAX_DECISIONS),
      missingSinceMs: isMissing ? (before?.missingSinceMs ?? atMs) : undefined,
      atMaxSinceMs: isAtMax ? (before?.atMaxSinceMs ?? atMs) : undefined,
      ...(falseCondition && { falseCondition: withShortMessage(falseCondition) }),
      ...(problem !== undefined && { problem }),
    });
  }

  /** Records that another controller manages an HPA. */
  recordExternal(key: string, other: ExternalController, atMs: number): void {
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
      decisions: [...(before?.decisions ?? []), decision].slice(-MAX_DECISIONS),
      missingSinceMs: undefined,
      atMaxSinceMs: undefined,
    });
  }

  remove(key: string): void {
    this.#hpas.delete(key);
  }

  /** Clears all records at the end of a leadership term. */
  clear(): void {
    this.#hpas.clear();
  }
}

/** Conditions that are False while an HPA does not scale. */
const SCALING_CONDITIONS: readonly string[] = ['AbleToScale', 'ScalingActive'];

function withShortMessage({ message = '', ...condition }: HpaCondition): HpaCondition {
  return { ...condition, message: shortened(message, MAX_ERROR_LENGTH) };
}

/** Truncates an error; an error equal to the previous one shares its text, as there are 50 of each HPA. */
function sameText(before: string | undefined, error: string): string {
  const text = shortened(error, MAX_ERROR_LENGTH);
  return text === before ? before : text;
}

/** Maximum of recorded metrics of an HPA. */
const MAX_METRICS = 20;

/**
 * The ratios of an HPA's metrics to their targets at its latest decisions: four bytes per metric and decision.
 */
export class LoadHistory {
  /** Names of the metrics, in the order of the spec. */
  readonly metrics: readonly string[];
  readonly #capacity: number;
  readonly #ratios: Float32Array;
  #count = 0;

  constructor(metrics: readonly string[], capacity: number) {
    this.metrics = metrics;
    this.#capacity = capacity;
    this.#ratios = new Float32Array(metrics.length * capacity);
  }

  /** The previous history, or a new one if the HPA has other metrics. */
  static after(
    before: LoadHistory | undefined,
    explained: readonly MetricExplanation[],
    capacity: number,
  ): LoadHistory {
    const names = explained.slice(0, MAX_METRICS).map(({ name }) => name);
    if (before && (names.length === 0 || names.join('\n') === before.metrics.join('\n'))) return before;
    return new LoadHistory(names, capacity);
  }

  /** Records one decision; `explained` is empty when metrics were not evaluated. */
  record(explained: readonly MetricExplanation[]): void {
    const offset = (this.#count++ % this.#capacity) * this.metrics.length;
    for (const index of this.metrics.keys())
      this.#ratios[offset + index] = explained[index]?.proposal?.ratio ?? Number.NaN;
  }

  /** Values over targets of one metric, oldest first; `undefined` when unknown. */
  ratiosOf(metric: number): readonly (number | undefined)[] {
    const count = Math.min(this.#count, this.#capacity);
    return Array.from({ length: count }, (_, offset) => {
      const index = (this.#count - count + offset) % this.#capacity;
      const ratio = this.#ratios[index * this.metrics.length + metric];
      return ratio === undefined || Number.isNaN(ratio) ? undefined : ratio;
    });
  }

  /** The history by metric. */
  toJSON(): readonly object[] {
    return this.metrics.map((metric, index) => ({
      metric,
      ratios: this.ratiosOf(index).map((ratio) =>
        ratio === undefined ? null : Math.round(ratio * 1e6) / 1e6,
      ),
    }));
  }
}

/**
 * Removes the middle of a long text, with the number of removed characters. Most of the rest is its end: an error begins
 * with what failed, and ends with the cause.
 */
export function shortened(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const head = Math.floor(maxCharacters / 3);
  const tail = maxCharacters - head;
  const omitted = `… ${text.length - maxCharacters} more characters …`;
  // a slice would retain the whole text
  return copyString(`${text.slice(0, head)}${omitted}${text.slice(-tail)}`.toWellFormed());
}
