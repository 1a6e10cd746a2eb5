import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Hpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import type { Outcome } from '../decision/decision.ts';
import { PersistFailures } from '../state/config-map-store.ts';
import type { DecisionLog } from './decision-log.ts';

const PREFIX = 'horizontal_pod_autoscaler_controller';
/** From a millisecond to 16 s, doubling, as in Kubernetes. */
const BUCKETS_S = Array.from({ length: 15 }, (_, index) => 0.001 * 2 ** index);

const LAG_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

type Action = 'scale_up' | 'scale_down' | 'none';

/** The `horizontal_pod_autoscaler_controller_*` series of Kubernetes, and series for alerts. */
export class HpaSeries {
  readonly #reconciliations: Counter<'action' | 'error'>;
  readonly #reconciliationDuration: Histogram<'action' | 'error'>;
  readonly #metricComputations: Counter<'action' | 'error' | 'metric_type'>;
  readonly #metricDuration: Histogram<'action' | 'error' | 'metric_type'>;
  readonly #reversals: Counter<'namespace' | 'name'>;
  readonly #dryRuns: Counter<'agrees'>;
  readonly #memoryFailures: Counter;
  readonly #lag: Histogram;
  readonly #lastActions = new Map<string, Action>();
  readonly #persistFailures = new PersistFailures();

  constructor(registry: Registry, decisions: DecisionLog) {
    const registers = [registry];
    const labelNames = ['action', 'error'] as const;
    this.#reconciliations = new Counter({
      name: `${PREFIX}_reconciliations_total`,
      labelNames,
      registers,
      help: 'Reconciliations of HPAs, by action and error',
    });
    this.#reconciliationDuration = new Histogram({
      name: `${PREFIX}_reconciliation_duration_seconds`,
      labelNames,
      registers,
      buckets: BUCKETS_S,
      help: 'Time to reconcile an HPA, in seconds, by action and error',
    });
    this.#metricComputations = new Counter({
      name: `${PREFIX}_metric_computation_total`,
      help: 'Evaluations of the metrics of HPAs, by the action that the evaluated metric alone proposes',
      labelNames: ['action', 'error', 'metric_type'],
      registers,
    });
    this.#metricDuration = new Histogram({
      name: `${PREFIX}_metric_computation_duration_seconds`,
      help: 'Time to read a metric of an HPA, in seconds, by the action that this metric alone proposes',
      labelNames: ['action', 'error', 'metric_type'],
      buckets: BUCKETS_S,
      registers,
    });
    this.#reversals = new Counter({
      name: 'autoscaler_hpa_direction_changes_total',
      help: 'Changes of the scaling direction of an HPA; a high rate indicates flapping',
      labelNames: ['namespace', 'name'],
      registers,
    });
    this.#dryRuns = new Counter({
      name: 'autoscaler_hpa_dry_run_decisions_total',
      help: 'Decisions of a dry run, by whether they agree with the desired replicas in the status of the HPA',
      labelNames: ['agrees'],
      registers,
    });
    this.#memoryFailures = new Counter({
      name: 'autoscaler_hpa_memory_failures_total',
      help: 'Failures to persist the state of an HPA, or to read the persisted state of a namespace',
      registers,
    });
    this.#lag = new Histogram({
      name: 'autoscaler_hpa_lag_seconds',
      help: 'Time from when the reconciliation of an HPA was due until the end of the reconciliation, in seconds',
      buckets: LAG_BUCKETS_S,
      registers,
    });
    addGauges(registers, decisions);
  }

  /** Records an HPA that was reconciled because its period had passed. */
  late(lagMs: number): void {
    this.#lag.observe(lagMs / 1000);
  }

  reconciled({ explanation, error }: Outcome, durationMs: number): void {
    const { currentReplicas, desiredReplicas, step } = explanation;
    const isSpecError = step === 'unclear-pods' || step === 'omitted-spec';
    const labels = {
      action: actionOf(currentReplicas, desiredReplicas),
      error: error === undefined ? 'none' : isSpecError ? 'spec' : 'internal',
    };
    this.#reconciliations.inc(labels);
    this.#reconciliationDuration.observe(labels, durationMs / 1000);
  }

  decided(
    { metadata: { namespace, name }, status }: Hpa,
    { explanation, desiredReplicas }: Outcome,
    { isDryRun, tookMs }: { readonly isDryRun: boolean; readonly tookMs: ReadonlyMap<number, number> },
  ): void {
    const { metrics, currentReplicas } = explanation;
    for (const [index, { type, proposal, failure }] of metrics.entries()) {
      const labels = {
        action: actionOf(currentReplicas, proposal?.replicas),
        error: !failure ? 'none' : failure.reason === 'InvalidMetricSourceType' ? 'spec' : 'internal',
        metric_type: type,
      };
      this.#metricComputations.inc(labels);
      this.#metricDuration.observe(labels, (tookMs.get(index) ?? 0) / 1000);
    }
    if (isDryRun) {
      this.#dryRuns.inc({ agrees: String(explanation.desiredReplicas === status?.desiredReplicas) });
      return;
    }
    if (desiredReplicas === undefined) return;
    const key = `${namespace}/${name}`;
    const action = actionOf(currentReplicas, desiredReplicas);
    const before = this.#lastActions.get(key);
    this.#lastActions.set(key, action);
    if (before !== undefined && before !== action) this.#reversals.inc({ namespace, name });
  }

  /** Removes a deleted HPA. */
  remove(namespace: string, name: string): void {
    this.#lastActions.delete(`${namespace}/${name}`);
    this.#reversals.remove({ namespace, name });
    this.#persistFailures.succeeded(namespace, name);
  }

  /** Clears series of HPAs at the end of a leadership term. */
  clear(): void {
    this.#lastActions.clear();
    this.#reversals.reset();
  }

  persisted(namespace: string, name: string): void {
    this.#persistFailures.succeeded(namespace, name);
  }

  memoryUnread(): void {
    this.#memoryFailures.inc();
  }

  /** @returns whether to log the failure */
  persistFailed(namespace: string, name: string): boolean {
    this.#memoryFailures.inc();
    return this.#persistFailures.failed(namespace, name);
  }
}

function addGauges(registers: Registry[], decisions: DecisionLog): void {
  new Gauge({
    name: `${PREFIX}_num_horizontal_pod_autoscalers`,
    help: 'HPAs that this controller manages',
    registers,
    collect() {
      this.set(decisions.size);
    },
  });
  new Gauge({
    name: `${PREFIX}_desired_replicas`,
    help: 'Desired replicas of the target of an HPA',
    labelNames: ['namespace', 'hpa_name'],
    registers,
    collect() {
      this.reset();
      for (const { namespace, name: hpa_name, explanation } of decisions.values())
        if (explanation?.desiredReplicas !== undefined)
          this.set({ namespace, hpa_name }, explanation.desiredReplicas);
    },
  });
  const since = (name: string, help: string, key: 'missingSinceMs' | 'atMaxSinceMs') =>
    new Gauge({
      name,
      help,
      registers,
      labelNames: ['namespace', 'name'],
      collect() {
        this.reset();
        for (const { namespace, name: hpa, [key]: sinceMs } of decisions.values())
          if (sinceMs !== undefined) this.set({ namespace, name: hpa }, sinceMs / 1000);
      },
    });
  since(
    'autoscaler_hpa_metric_missing_since_timestamp_seconds',
    'Unix time since which a metric of an HPA cannot be read; absent while all metrics can be read',
    'missingSinceMs',
  );
  since(
    'autoscaler_hpa_at_max_since_timestamp_seconds',
    'Unix time since which an HPA proposes maxReplicas; absent while the HPA proposes fewer replicas',
    'atMaxSinceMs',
  );
}

function actionOf(current: number | undefined, desired: number | undefined): Action {
  if (current === undefined || desired === undefined || current === desired) return 'none';
  return desired > current ? 'scale_up' : 'scale_down';
}
