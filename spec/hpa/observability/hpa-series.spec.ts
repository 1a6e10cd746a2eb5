import { expect } from 'chai';
import { Registry } from 'prom-client';
import type { Outcome } from '#lib/hpa/decision/decision.ts';
import { DecisionLog } from '#lib/hpa/observability/decision-log.ts';
import { HpaSeries } from '#lib/hpa/observability/hpa-series.ts';
import { webHpa } from '#spec/hpa/min-replicas/built-decision.ts';
import { DECIDED_AT_MS, ReportedHpas } from './reported-hpas.ts';

describe('HpaSeries', () => {
  it('counts direction changes within one term only', async () => {
    const registry = new Registry();
    const series = new HpaSeries(registry, new DecisionLog());
    const scaled = (currentReplicas: number, desiredReplicas: number) => {
      const outcome = { explanation: { metrics: [], currentReplicas }, desiredReplicas };
      series.decided(webHpa({ minReplicas: 1 }), outcome as unknown as Outcome, {
        isDryRun: false,
        tookMs: new Map(),
      });
    };
    scaled(1, 2);
    scaled(2, 1);
    expect(await registry.metrics()).to.match(/direction_changes_total\{.*name="web"\} 1/);
    series.clear();
    scaled(1, 2);
    expect(await registry.metrics()).to.not.include('name="web"');
  });

  it('counts results of decisions and metrics, lags, and since when an HPA has a problem', async () => {
    const registry = new Registry();
    const reported = new ReportedHpas();
    const series = new HpaSeries(registry, reported.log);
    const decided = (
      name: string,
      explained: object,
      desiredReplicas?: number,
      { isDryRun = false, states = 0 } = {},
    ) => {
      const web = webHpa({ minReplicas: 1 });
      const hpa = { ...web, metadata: { ...web.metadata, name }, status: { desiredReplicas: states } };
      const outcome = { explanation: { metrics: [], ...explained }, desiredReplicas } as unknown as Outcome;
      series.decided(hpa, outcome, { isDryRun, tookMs: new Map([[0, 3]]) });
    };
    series.late(12);
    series.late(31_000);
    const reconciled = (
      step: string,
      current: number | undefined,
      desired: number | undefined,
      error?: string,
    ) => {
      const explanation = { step, currentReplicas: current, desiredReplicas: desired };
      series.reconciled({ explanation, error } as unknown as Outcome, 20);
    };
    reconciled('metrics', 2, 4);
    reconciled('metrics', 4, 2);
    reconciled('metrics', 2, 2);
    reconciled('unclear-pods', 2, 2, 'shared');
    reconciled('no-scale', undefined, undefined, 'gone');
    reconciled('metrics', 2, 3, 'one is gone');
    const failure = (reason: string) => ({ failure: { reason } });
    const metrics = [
      { type: 'Resource', proposal: { replicas: 4 } },
      { type: 'Pods', proposal: { replicas: 2 } },
      { type: 'External', ...failure('FailedGetExternalMetric') },
      { type: '', ...failure('InvalidMetricSourceType') },
    ];
    decided('web', { metrics, currentReplicas: 2 });
    decided('dry', { currentReplicas: 2, desiredReplicas: 3 }, 3, { isDryRun: true, states: 3 });
    decided('dry', { currentReplicas: 2, desiredReplicas: 4 }, 4, { isDryRun: true, states: 3 });
    series.memoryUnread();
    reported.decided('shop/web', DECIDED_AT_MS);
    reported.decided('shop/full', DECIDED_AT_MS, { desiredReplicas: 100 });
    reported.decided('shop/mute', DECIDED_AT_MS, { ratio: null, desiredReplicas: undefined });
    const text = await registry.metrics();
    const lines = text.split('\n').filter((line) => line !== '' && !line.includes('_bucket{'));
    expect(lines.filter((line) => !line.includes('_duration_seconds_')).join('\n')).to.equal(
      WITHOUT_DURATIONS,
    );
    const count = (series: string) => lines.filter((line) => line.startsWith(`${CONTROLLER}_${series}`));
    expect(count('reconciliation_duration_seconds_sum')).to.deep.equal(
      [
        ...[
          '{action="scale_up",error="none"}',
          '{action="scale_down",error="none"}',
          '{action="none",error="none"}',
        ],
        ...[
          '{action="none",error="spec"}',
          '{action="none",error="internal"}',
          '{action="scale_up",error="internal"}',
        ],
      ].map((labels) => `${CONTROLLER}_reconciliation_duration_seconds_sum${labels} 0.02`),
    );
    expect(count('metric_computation_duration_seconds_sum')).to.deep.equal([
      `${CONTROLLER}_metric_computation_duration_seconds_sum{action="scale_up",error="none",metric_type="Resource"} 0.003`,
      `${CONTROLLER}_metric_computation_duration_seconds_sum{action="none",error="none",metric_type="Pods"} 0`,
      `${CONTROLLER}_metric_computation_duration_seconds_sum{action="none",error="internal",metric_type="External"} 0`,
      `${CONTROLLER}_metric_computation_duration_seconds_sum{action="none",error="spec",metric_type=""} 0`,
    ]);
    const bounds = (series: string, labels = '') =>
      [...text.matchAll(new RegExp(`^${series}_bucket\\{le="([^"]*)"${labels}\\}`, 'gm'))].map(
        ([, bound]) => bound,
      );
    const scaledUp = ',action="scale_up",error="none"';
    const doubled =
      '0.001 0.002 0.004 0.008 0.016 0.032 0.064 0.128 0.256 0.512 1.024 2.048 4.096 8.192 16.384 +Inf';
    expect(bounds(`${CONTROLLER}_reconciliation_duration_seconds`, scaledUp).join(' ')).to.equal(doubled);
    expect(
      bounds(`${CONTROLLER}_metric_computation_duration_seconds`, `${scaledUp},metric_type="Resource"`).join(
        ' ',
      ),
    ).to.equal(doubled);
    expect(bounds('autoscaler_hpa_lag_seconds').join(' ')).to.equal(
      '0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 30 60 +Inf',
    );
    reported.log.clear();
    expect(await registry.metrics()).to.not.match(/name="(web|full|mute)"/);
  });

  it('counts direction changes per HPA until it is deleted', async () => {
    const registry = new Registry();
    const series = new HpaSeries(registry, new DecisionLog());
    const scaled = (name: string, currentReplicas: number, desiredReplicas: number) => {
      const web = webHpa({ minReplicas: 1 });
      const outcome = { explanation: { metrics: [], currentReplicas }, desiredReplicas };
      const hpa = { ...web, metadata: { ...web.metadata, name } };
      series.decided(hpa, outcome as unknown as Outcome, { isDryRun: false, tookMs: new Map() });
    };
    const changes = async () =>
      (await registry.metrics())
        .split('\n')
        .filter((line) => line.startsWith('autoscaler_hpa_direction_changes_total{'));
    scaled('a', 1, 2);
    scaled('b', 3, 2);
    scaled('a', 2, 3);
    expect(await changes()).to.deep.equal([]);
    scaled('a', 3, 2);
    scaled('a', 2, 3);
    scaled('b', 2, 3);
    const of = (name: string, count: number) =>
      `autoscaler_hpa_direction_changes_total{namespace="default",name="${name}"} ${count}`;
    expect(await changes()).to.deep.equal([of('a', 2), of('b', 1)]);
    series.remove('default', 'a');
    scaled('a', 3, 2);
    expect(await changes()).to.deep.equal([of('b', 1)]);
  });

  it('counts each persist failure, and reports one per namespace while it lasts', async () => {
    const registry = new Registry();
    const series = new HpaSeries(registry, new DecisionLog());
    expect(['a', 'a', 'b'].map((name) => series.persistFailed('shop', name))).to.deep.equal([
      true,
      false,
      false,
    ]);
    expect(series.persistFailed('bank', 'a')).to.equal(true);
    series.persisted('shop', 'a');
    expect(series.persistFailed('shop', 'a')).to.equal(false); // that of b still fails
    for (const name of ['a', 'b']) series.persisted('shop', name);
    expect(series.persistFailed('shop', 'a')).to.equal(true);
    series.remove('shop', 'a');
    expect(series.persistFailed('shop', 'a')).to.equal(true);
    expect(await registry.metrics()).to.include('autoscaler_hpa_memory_failures_total 7\n');
  });
});

const CONTROLLER = 'horizontal_pod_autoscaler_controller';
const WITHOUT_DURATIONS = `# HELP horizontal_pod_autoscaler_controller_reconciliations_total Reconciliations of HPAs, by action and error
# TYPE horizontal_pod_autoscaler_controller_reconciliations_total counter
horizontal_pod_autoscaler_controller_reconciliations_total{action="scale_up",error="none"} 1
horizontal_pod_autoscaler_controller_reconciliations_total{action="scale_down",error="none"} 1
horizontal_pod_autoscaler_controller_reconciliations_total{action="none",error="none"} 1
horizontal_pod_autoscaler_controller_reconciliations_total{action="none",error="spec"} 1
horizontal_pod_autoscaler_controller_reconciliations_total{action="none",error="internal"} 1
horizontal_pod_autoscaler_controller_reconciliations_total{action="scale_up",error="internal"} 1
# HELP horizontal_pod_autoscaler_controller_reconciliation_duration_seconds Time to reconcile an HPA, in seconds, by action and error
# TYPE horizontal_pod_autoscaler_controller_reconciliation_duration_seconds histogram
# HELP horizontal_pod_autoscaler_controller_metric_computation_total Evaluations of the metrics of HPAs, by the action that the evaluated metric alone proposes
# TYPE horizontal_pod_autoscaler_controller_metric_computation_total counter
horizontal_pod_autoscaler_controller_metric_computation_total{action="scale_up",error="none",metric_type="Resource"} 1
horizontal_pod_autoscaler_controller_metric_computation_total{action="none",error="none",metric_type="Pods"} 1
horizontal_pod_autoscaler_controller_metric_computation_total{action="none",error="internal",metric_type="External"} 1
horizontal_pod_autoscaler_controller_metric_computation_total{action="none",error="spec",metric_type=""} 1
# HELP horizontal_pod_autoscaler_controller_metric_computation_duration_seconds Time to read a metric of an HPA, in seconds, by the action that this metric alone proposes
# TYPE horizontal_pod_autoscaler_controller_metric_computation_duration_seconds histogram
# HELP autoscaler_hpa_direction_changes_total Changes of the scaling direction of an HPA; a high rate indicates flapping
# TYPE autoscaler_hpa_direction_changes_total counter
# HELP autoscaler_hpa_dry_run_decisions_total Decisions of a dry run, by whether they agree with the desired replicas in the status of the HPA
# TYPE autoscaler_hpa_dry_run_decisions_total counter
autoscaler_hpa_dry_run_decisions_total{agrees="true"} 1
autoscaler_hpa_dry_run_decisions_total{agrees="false"} 1
# HELP autoscaler_hpa_memory_failures_total Failures to persist the state of an HPA, or to read the persisted state of a namespace
# TYPE autoscaler_hpa_memory_failures_total counter
autoscaler_hpa_memory_failures_total 1
# HELP autoscaler_hpa_lag_seconds Time from when the reconciliation of an HPA was due until the end of the reconciliation, in seconds
# TYPE autoscaler_hpa_lag_seconds histogram
autoscaler_hpa_lag_seconds_sum 31.012
autoscaler_hpa_lag_seconds_count 2
# HELP horizontal_pod_autoscaler_controller_num_horizontal_pod_autoscalers HPAs that this controller manages
# TYPE horizontal_pod_autoscaler_controller_num_horizontal_pod_autoscalers gauge
horizontal_pod_autoscaler_controller_num_horizontal_pod_autoscalers 3
# HELP horizontal_pod_autoscaler_controller_desired_replicas Desired replicas of the target of an HPA
# TYPE horizontal_pod_autoscaler_controller_desired_replicas gauge
horizontal_pod_autoscaler_controller_desired_replicas{namespace="shop",hpa_name="web"} 2
horizontal_pod_autoscaler_controller_desired_replicas{namespace="shop",hpa_name="full"} 100
# HELP autoscaler_hpa_metric_missing_since_timestamp_seconds Unix time since which a metric of an HPA cannot be read; absent while all metrics can be read
# TYPE autoscaler_hpa_metric_missing_since_timestamp_seconds gauge
autoscaler_hpa_metric_missing_since_timestamp_seconds{namespace="shop",name="mute"} 1767268800
# HELP autoscaler_hpa_at_max_since_timestamp_seconds Unix time since which an HPA proposes maxReplicas; absent while the HPA proposes fewer replicas
# TYPE autoscaler_hpa_at_max_since_timestamp_seconds gauge
autoscaler_hpa_at_max_since_timestamp_seconds{namespace="shop",name="full"} 1767268800`;
