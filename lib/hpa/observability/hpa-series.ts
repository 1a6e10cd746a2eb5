import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Hpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import type { Outcome } from '../decision/decision.ts';
import { UnkeptNames } from '../state/config-map-store.ts';
import type { DecisionLog } from './decision-log.ts';

const PREFIX = 'horizontal_pod_autoscaler_controller';
/** From a millisecond to 16 s, each twice the one before, as Kubernetes has them. */
const BUCKETS_S = Array.from({ length: 15 }, (_, place) => 0.001 * 2 ** place);

const LAG_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

type Action = 'scale_up' | 'scale_down' | 'none';

/** The `horizontal_pod_autoscaler_controller_*` series of Kubernetes, and what alerts need beside them. */
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
  readonly #unkept = new UnkeptNames();

  constructor(registry: Registry, decisions: DecisionLog) {
    const registers = [registry];
    const labelNames = ['action', 'error'] as const;
    this.#reconciliations = new Counter({
      name: `${PREFIX}_reconciliations_total`,
      labelNames,
      registers,
      help: 'HPAs that were decided, by what came of it',
    });
    this.#reconciliationDuration = new Histogram({
      name: `${PREFIX}_reconciliation_duration_seconds`,
      labelNames,
      registers,
      buckets: BUCKETS_S,
      help: 'How long it took to decide an HPA and to act on it',
    });
    this.#metricComputations = new Counter({
      name: `${PREFIX}_metric_computation_total`,
      help: 'Metrics of HPAs that were worked out, by what they alone ask for',
      labelNames: ['action', 'error', 'metric_type'],
      registers,
    });
    this.#metricDuration = new Histogram({
      name: `${PREFIX}_metric_computation_duration_seconds`,
      help: 'How long it took to read a metric of an HPA, by what it alone asks for',
      labelNames: ['action', 'error', 'metric_type'],
      buckets: BUCKETS_S,
      registers,
    });
    this.#reversals = new Counter({
      name: 'autoscaler_hpa_direction_changes_total',
      help: 'How often an HPA scaled the other way than the time before; often means that it flaps',
      labelNames: ['namespace', 'name'],
      registers,
    });
    this.#dryRuns = new Counter({
      name: 'autoscaler_hpa_dry_run_decisions_total',
      help: 'Decisions of a dry run, by whether they are what the status of the HPA says',
      labelNames: ['agrees'],
      registers,
    });
    this.#memoryFailures = new Counter({
      name: 'autoscaler_hpa_memory_failures_total',
      help: 'How often what is remembered of an HPA could not be kept for a restart, or not be read after one in a namespace',
      registers,
    });
    this.#lag = new Histogram({
      name: 'autoscaler_hpa_lag_seconds',
      help: 'How long after it was due an HPA had been decided and acted on',
      buckets: LAG_BUCKETS_S,
      registers,
    });
    addGauges(registers, decisions);
  }

  /** An HPA that was due by its period has been acted on. */
  late(lagMs: number): void {
    this.#lag.observe(lagMs / 1000);
  }

  reconciled({ explanation, error }: Outcome, durationMs: number): void {
    const { currentReplicas, desiredReplicas, step } = explanation;
    const isSpecError = step === 'unclear-pods';
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
    for (const [place, { type, proposal, failure }] of metrics.entries()) {
      const labels = {
        action: actionOf(currentReplicas, proposal?.replicas),
        error: !failure ? 'none' : failure.reason === 'InvalidMetricSourceType' ? 'spec' : 'internal',
        metric_type: type,
      };
      this.#metricComputations.inc(labels);
      this.#metricDuration.observe(labels, (tookMs.get(place) ?? 0) / 1000);
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

  /** An HPA is no more. */
  forget(namespace: string, name: string): void {
    this.#lastActions.delete(`${namespace}/${name}`);
    this.#reversals.remove({ namespace, name });
    this.#unkept.kept(namespace, name);
  }

  /** The term ends; which HPAs go, and how others scale, until the next one is not known. */
  clear(): void {
    this.#lastActions.clear();
    this.#reversals.reset();
  }

  memoryKept(namespace: string, name: string): void {
    this.#unkept.kept(namespace, name);
  }

  memoryUnread(): void {
    this.#memoryFailures.inc();
  }

  /** @returns whether that is to be told */
  memoryNotKept(namespace: string, name: string): boolean {
    this.#memoryFailures.inc();
    return this.#unkept.failed(namespace, name);
  }
}

function addGauges(registers: Registry[], decisions: DecisionLog): void {
  new Gauge({
    name: `${PREFIX}_num_horizontal_pod_autoscalers`,
    help: 'HPAs that are taken care of',
    registers,
    collect() {
      this.set(decisions.size);
    },
  });
  new Gauge({
    name: `${PREFIX}_desired_replicas`,
    help: 'How many replicas the target of an HPA is to have',
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
    'Since when an HPA has a metric that cannot be read; absent while all can be',
    'missingSinceMs',
  );
  since(
    'autoscaler_hpa_at_max_since_timestamp_seconds',
    'Since when an HPA asks for all the replicas that it may; absent while it does not',
    'atMaxSinceMs',
  );
}

function actionOf(current: number | undefined, desired: number | undefined): Action {
  if (current === undefined || desired === undefined || current === desired) return 'none';
  return desired > current ? 'scale_up' : 'scale_down';
}
