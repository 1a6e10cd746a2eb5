import type { Explanation, Outcome } from '#lib/hpa/decision/decision.ts';
import { DecisionLog } from '#lib/hpa/observability/decision-log.ts';
import type { HpaStatus } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { explainedAt, webHpa } from '#spec/hpa/min-replicas/built-decision.ts';

/** The time of the decisions. */
export const DECIDED_AT_MS = Date.UTC(2026, 0, 1, 12);

type ExplainedFacts = {
  readonly [Fact in keyof Explanation]?: Explanation[Fact] | undefined;
};

/** Changes of a decision, by default one with a load exactly at its target. */
export interface ReportedFacts extends ExplainedFacts {
  /** Of its only metric; `null` if that could not be read. */
  readonly ratio?: number | null;
  /** The name of the metric. */
  readonly metric?: string;
  /** Whether another size was written. */
  readonly isScaled?: boolean;
  readonly isDryRun?: boolean;
  /** The status, in a dry run. */
  readonly statusReplicas?: number;
  readonly error?: string;
  readonly problem?: string;
  /** By default none. */
  readonly conditions?: HpaStatus['conditions'];
}

/** A log of decisions that a spec sets. */
export class ReportedHpas {
  readonly log = new DecisionLog();

  /** @param key `namespace/name` */
  decided(key: string, atMs: number, facts: ReportedFacts = {}): void {
    const {
      ratio = 1,
      metric,
      isScaled = false,
      isDryRun = false,
      error,
      problem,
      statusReplicas,
      conditions = [],
      ...more
    } = facts;
    const [namespace = '', name = ''] = key.split('/');
    const built = explainedAt(ratio ?? undefined, { minReplicas: 2 });
    const explanation: Explanation = {
      ...{ ...built, atMs, leadingMetric: ratio === null ? undefined : 0, proposedReplicas: 2 },
      metrics: built.metrics.map((one) => ({
        ...{ ...one, name: metric ?? 'cpu resource', target: { type: 'Value', value: '10' } },
        ...(one.failure && { failure: { ...one.failure, message: 'connection refused' } }),
      })),
      ...more,
    } as Explanation;
    const desiredReplicas = isScaled ? explanation.desiredReplicas : undefined;
    const web = webHpa({ minReplicas: 2 });
    const hpa = {
      ...{ ...web, metadata: { ...web.metadata, namespace, name } },
      ...(statusReplicas !== undefined && { status: { desiredReplicas: statusReplicas } }),
    };
    const status = { desiredReplicas: 2, conditions };
    this.log.record(key, { explanation, desiredReplicas, error, status } as unknown as Outcome, {
      ...{ hpa, isDryRun, problem },
    });
  }
}
