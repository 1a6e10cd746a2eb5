import { expect } from 'chai';
import { Registry } from 'prom-client';
import {
  type CollectedState,
  metricsAdapterSeries,
} from '#lib/metrics-adapter/observability/metrics-adapter-series.ts';

const NOW_MS = 1_000_000;

function state(collector: string, changes: Partial<CollectedState> = {}): CollectedState {
  return {
    ...{ hpa: 'default/web', metric: 'External/queue', collector, query: 'queue', intervalMs: 15_000 },
    ...{ value: 1, samples: 1, notes: [], receivedAtMs: NOW_MS - 5_000, isServed: true, nextInMs: 10_000 },
    ...{ error: undefined, failingSinceMs: undefined },
    ...changes,
  };
}

describe('metricsAdapterSeries', () => {
  it('counts collected, missing and failing metrics of each collector, and the age of values', async () => {
    const registry = new Registry();
    let collected: readonly CollectedState[] = [
      state('prometheus'),
      state('prometheus', {
        receivedAtMs: NOW_MS - 12_000,
        error: 'refused',
        failingSinceMs: NOW_MS - 9_000,
      }),
      state('prometheus', { receivedAtMs: NOW_MS - 99_000, isServed: false, error: 'refused' }),
      state('json-path', { receivedAtMs: undefined, value: undefined, isServed: false }),
    ];
    metricsAdapterSeries({ registry, nowMs: () => NOW_MS, collected: () => collected });
    const lines = async () =>
      (await registry.metrics()).split('\n').filter((line) => line.startsWith('autoscaler_collected'));
    expect(await lines()).to.deep.equal([
      'autoscaler_collected_metrics{collector="prometheus"} 3',
      'autoscaler_collected_metrics{collector="json-path"} 1',
      'autoscaler_collected_metrics_without_value{collector="prometheus"} 1',
      'autoscaler_collected_metrics_without_value{collector="json-path"} 1',
      'autoscaler_collected_metrics_failing{collector="prometheus"} 2',
      'autoscaler_collected_metrics_failing{collector="json-path"} 0',
      'autoscaler_collected_metrics_oldest_seconds{collector="prometheus"} 12',
      'autoscaler_collected_metrics_oldest_seconds{collector="json-path"} 0',
    ]);
    collected = [];
    expect(await lines()).to.deep.equal([]);
  });

  it('counts under the names of kube-metrics-adapter, from the start', async () => {
    const registry = new Registry();
    const series = metricsAdapterSeries({ registry, nowMs: () => NOW_MS, collected: () => [] });
    const counts = async () =>
      (await registry.metrics()).split('\n').filter((line) => line.startsWith('kube_metrics_adapter'));
    const named = (...[success, error, updates, failedUpdates]: readonly number[]) => [
      `kube_metrics_adapter_collections_success ${success}`,
      `kube_metrics_adapter_collections_error ${error}`,
      `kube_metrics_adapter_updates_success ${updates}`,
      `kube_metrics_adapter_updates_error ${failedUpdates}`,
    ];
    expect(await counts()).to.deep.equal(named(0, 0, 0, 0));
    series.recordQuery('a:9090', { durationMs: 20, error: undefined });
    series.recordQuery('b', { durationMs: 30, error: undefined });
    series.recordQuery('b', { durationMs: 15_000, error: new Error('no response') });
    series.recordUpdate(undefined);
    for (let time = 0; time < 3; time++) series.recordUpdate(new Error('forbidden'));
    expect(await counts()).to.deep.equal(named(2, 1, 1, 3));
    const durations = await registry.metrics();
    expect(durations).to.include('autoscaler_source_request_duration_seconds_sum{result="success"} 0.05');
    expect(durations).to.include('autoscaler_source_request_duration_seconds_count{result="error"} 1');
  });

  it('counts by source, with separate labels for at most 100', async () => {
    const registry = new Registry();
    const series = metricsAdapterSeries({ registry, nowMs: () => NOW_MS, collected: () => [] });
    const lines = async () =>
      (await registry.metrics()).split('\n').filter((line) => line.startsWith('autoscaler_source_request'));
    const result = { durationMs: 250, error: undefined };
    series.recordQuery('a"b\n:9090', result);
    series.recordQuery('a"b\n:9090', { ...result, error: new Error('no response') });
    const first = await lines();
    expect(first).to.include.members([
      'autoscaler_source_requests_total{source="a\\"b\\n:9090",result="success"} 1',
      'autoscaler_source_requests_total{source="a\\"b\\n:9090",result="error"} 1',
      'autoscaler_source_request_seconds_total{source="a\\"b\\n:9090"} 0.5',
    ]);
    series.recordQuery('x'.repeat(1_000_000), result);
    for (let index = 0; index < 5_000; index++) series.recordQuery(`host-${index}`, result);
    series.recordQuery('host-0', result);
    series.recordQuery(undefined, result);
    const all = await lines();
    expect(all.length - first.length).to.equal(100 * 3); // with "other"
    expect(all).to.include('autoscaler_source_requests_total{source="host-0",result="success"} 2');
    expect(all).to.include('autoscaler_source_requests_total{source="host-98",result="error"} 0');
    expect(all).to.include(
      `autoscaler_source_requests_total{source="other",result="success"} ${5_000 - 99 + 2}`,
    );
  });
});
