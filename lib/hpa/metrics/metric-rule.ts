import { parseThousandths, QuantityError } from '#lib/kubernetes/exact-quantity.ts';
import type {
  MetricIdentifier,
  MetricStatus,
  MetricTarget,
} from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { ScaledPod } from '#lib/kubernetes/objects/pod.ts';
import { SelectorError } from '#lib/kubernetes/selectors/label-selector.ts';
import { metricSelector } from '#lib/kubernetes/selectors/selector-object.ts';
import type { HpaConfig, MetricReading } from '../decision/decision-input.ts';
import {
  MetricFailure,
  type Proposal,
  SelectorFailure,
  type Tolerances,
} from '../decision/replica-calculator.ts';

/** What one kind of metric does with its part of the spec. */
export interface MetricRule {
  /** What conditions and events call the metric. */
  readonly name: string;
  /** The reason of condition and event when the metric fails. */
  readonly failureReason: string;
  /** What the reconcile's error puts before the failure. */
  readonly errorPrefix: string;
  /** What it puts between these, unless it is the selector that failed. */
  readonly step?: string;

  /** @throws {MetricFailure} with the message of condition and event */
  propose(context: MetricContext): Proposal;

  /** How the status shows what was proposed from. */
  status(proposal: Proposal): MetricStatus;
}

/** What every metric of an HPA is decided from. */
export interface MetricContext {
  readonly reading: MetricReading;
  /** Those that the scale's selector selects. */
  readonly pods: readonly ScaledPod[];
  readonly namespace: string;
  readonly specReplicas: number;
  readonly statusReplicas: number;
  readonly tolerances: Tolerances;
  readonly config: HpaConfig;
  readonly nowMs: number;
}

/** Fails a metric whose target has neither of the values that its kind takes. */
export function missingTarget(kind: string, values: string): MetricFailure {
  return new MetricFailure(`invalid ${kind} metric source: neither ${values} was set`);
}

/** @throws {SelectorFailure} when the selector of a metric cannot be used */
export function requireSelector({ selector }: MetricIdentifier): void {
  try {
    metricSelector(selector);
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    throw new SelectorFailure(error.message);
  }
}

/** Reads what a target is to be, in thousandths. */
export function targetThousandths(target: MetricTarget, field: 'value' | 'averageValue'): bigint | undefined {
  const text = target[field];
  return text === undefined ? undefined : parseThousandths(text);
}

/** Runs a step, and puts what was being done before its failure; numbers nobody can read are failures, too. */
export function failingAs<Result>(prefix: string, step: () => Result): Result {
  try {
    return step();
  } catch (error) {
    if (error instanceof QuantityError)
      throw new MetricFailure(`${prefix}${error.message}`, { isRefusal: true });
    if (!(error instanceof MetricFailure)) throw error;
    throw new MetricFailure(`${prefix}${error.message}`, { isRefusal: error.isRefusal });
  }
}
