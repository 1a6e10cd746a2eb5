import { expect } from 'chai';
import { dayOf, startOfDayMs } from '#lib/hpa/min-replicas/recommended-minimum.ts';
import { WeekFromPrometheus } from '#lib/hpa/min-replicas/week-from-prometheus.ts';
import type { Sample } from '#lib/sources/sample.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { webHpa } from './built-decision.ts';

const { signal } = new AbortController();
const HPA = webHpa({ minReplicas: 4 });
const LABELS = { horizontalpodautoscaler: 'web' };
const CPU = { ...LABELS, metric_name: 'cpu', metric_target_type: 'utilization' };

describe('WeekFromPrometheus', () => {
  const clock = new ManualClock();
  const today = dayOf(clock.nowMs());

  /** Returns the subject of a query, and the days before today. */
  function aboutOf(query: string): { what: string; daysAgo: number } {
    const [, offset = ''] = /offset (\d+)s\) or vector\(0\)$/.exec(query) ?? [];
    const endMs = clock.nowMs() - Number(offset) * 1000;
    const daysAgo = Math.round((startOfDayMs(today) - endMs) / 86_400_000) + 1;
    const what = query.includes('spec_min_replicas')
      ? 'min'
      : query.includes('group_left')
        ? 'total'
        : 'load';
    return { what, daysAgo };
  }

  it('reads seven days from kube-state-metrics, for all HPAs of a namespace at once', async () => {
    const queries: string[] = [];
    const request = async (query: string): Promise<Sample[]> => {
      queries.push(query);
      const { what, daysAgo } = aboutOf(query);
      const none: Sample = { labels: {}, value: 0 };
      const other: Sample = { labels: { ...CPU, horizontalpodautoscaler: 'other' }, value: 99 };
      if (daysAgo === 2) return [none]; // no scrapes on that day
      if (what === 'min') return [none, { labels: LABELS, value: 4 }];
      if (what === 'load') return [none, other, { labels: CPU, value: 20 }];
      return [none, other, { labels: CPU, value: daysAgo === 1 ? 80 : 160 }];
    };
    const weeks = new WeekFromPrometheus(request, clock);
    const week = await weeks.read(HPA, today, signal);
    const peaks = week.peaks.get('Resource cpu utilization') ?? [];
    expect(peaks.map(({ day }) => today - day)).to.deep.equal([7, 6, 5, 4, 3, 1]);
    expect(peaks.at(-1)).to.deep.include({ load: 20, minReplicas: 4 }); // 80 by 4 replicas
    expect(peaks[0]).to.deep.include({ load: 40, minReplicas: 4 }); // 160 by 8 replicas
    expect(queries).to.have.lengthOf(21);
    await weeks.read(HPA, today, signal);
    expect(queries).to.have.lengthOf(21);
    expect(queries[0]).to.match(
      /^max_over_time\(kube_horizontalpodautoscaler_spec_min_replicas\{namespace="default"\}\[1d\] offset \d+s\) or vector\(0\)$/,
    );
  });

  it('reads other days for an HPA first observed on another day', async () => {
    const days = new Set<number>();
    const request = async (query: string): Promise<Sample[]> => {
      days.add(aboutOf(query).daysAgo);
      return [];
    };
    const weeks = new WeekFromPrometheus(request, clock);
    await weeks.read(HPA, today - 3, signal);
    await weeks.read(HPA, today, signal);
    expect([...days].sort((one, other) => one - other)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('throws the error of a failed query', async () => {
    const weeks = new WeekFromPrometheus(async () => Promise.reject(new Error('connection refused')), clock);
    const complaint = await weeks.read(HPA, today, signal).catch((error: Error) => error.message);
    expect(complaint).to.equal('connection refused');
  });

  it('queries the daily maximum of minReplicas, the load, and the load times replicas', async () => {
    const atNoon = new ManualClock(Date.UTC(2026, 0, 8, 12));
    const queries: string[] = [];
    const request = async (query: string): Promise<Sample[]> => {
      queries.push(query);
      return [];
    };
    await new WeekFromPrometheus(request, atNoon).read(HPA, dayOf(atNoon.nowMs()), signal);
    const load = 'kube_horizontalpodautoscaler_status_target_metric{namespace="default"}';
    const replicas = 'kube_horizontalpodautoscaler_status_current_replicas{namespace="default"}';
    const minimum = 'kube_horizontalpodautoscaler_spec_min_replicas{namespace="default"}';
    const ofDay = (offset: number) => [
      `max_over_time(${minimum}[1d] offset ${offset}s) or vector(0)`,
      `max_over_time(${load}[1d] offset ${offset}s) or vector(0)`,
      `max_over_time((${load} * on (namespace, horizontalpodautoscaler) group_left () ${replicas})[1d:5m] offset ${offset}s) or vector(0)`,
    ];
    // Yesterday ended twelve hours ago.
    expect(queries).to.deep.equal([6, 5, 4, 3, 2, 1, 0].flatMap((days) => ofDay(43_200 + days * 86_400)));
  });

  it('uses the highest of several instances, and skips invalid samples', async () => {
    const two = webHpa({ minReplicas: 4 });
    const queue = {
      type: 'External',
      external: { metric: { name: 'queue' }, target: { type: 'Value', value: '10' } },
    };
    const none = {
      type: 'Pods',
      pods: { metric: { name: 'odd' }, target: { type: 'AverageValue', averageValue: '0' } },
    };
    const metrics = [none, ...(two.spec.metrics ?? []), queue] as NonNullable<typeof two.spec.metrics>;
    const hpa = { ...two, spec: { ...two.spec, metrics } };
    const QUEUE = { ...LABELS, metric_name: 'queue', metric_target_type: 'value' };
    const of = async (
      minimums: readonly number[],
      loads: readonly number[],
      totals: readonly number[] = [],
    ) => {
      const request = async (query: string): Promise<Sample[]> => {
        const { what, daysAgo } = aboutOf(query);
        if (daysAgo !== 1) return [];
        if (what === 'min') return minimums.map((value) => ({ labels: LABELS, value }));
        return (what === 'load' ? loads : totals).flatMap((value) => [
          { labels: CPU, value },
          { labels: { ...CPU, metric_target_type: 'average' }, value: 77 },
          { labels: QUEUE, value: value / 10 },
        ]);
      };
      const { peaks } = await new WeekFromPrometheus(request, clock).read(hpa, today, signal);
      return [...peaks].map(([metric, [peak]]) => [metric, peak?.load, peak?.minReplicas]);
    };
    const reported = (load: number, minReplicas: number) => [
      ...[
        ['Resource cpu utilization', load, minReplicas],
        ['External queue value', load / 10, minReplicas],
      ],
    ];
    expect(await of([4, 2], [20, 10])).to.deep.equal(reported(20, 4)); // no replicas
    expect(await of([4], [20], [40])).to.deep.equal(reported(20, 4)); // fewer replicas than the minimum
    expect(await of([1], [0], [0])).to.deep.equal(reported(0, 1));
    expect(await of([4], [20, Number.NaN, -5, Number.POSITIVE_INFINITY])).to.deep.equal(reported(20, 4));
    for (const minimum of [0, 2.5, -1]) expect(await of([minimum], [20])).to.deep.equal([]);
    expect(await of([], [20])).to.deep.equal([]);
    expect(await of([4], [])).to.deep.equal([]);
    expect(await of([4], [-5])).to.deep.equal([]); // loads are not negative
  });

  it('reads a namespace again after ten minutes, one at a time', async () => {
    const own = new ManualClock();
    const requested: string[] = [];
    let [running, max] = [0, 0];
    const request = async (query: string): Promise<Sample[]> => {
      max = Math.max(max, ++running);
      requested.push(/namespace="([^"]*)"/.exec(query)?.[1] ?? '');
      await new Promise(setImmediate);
      running--;
      return [];
    };
    const weeks = new WeekFromPrometheus(request, own);
    const ofNamespace = (namespace: string) =>
      weeks.read({ ...HPA, metadata: { ...HPA.metadata, namespace } }, today, signal);
    await Promise.all(['a', 'b', 'a'].map(ofNamespace));
    expect([max, requested]).to.deep.equal([1, ['a', 'b'].flatMap((name) => Array(21).fill(name))]);
    await own.advance(599_999);
    await ofNamespace('a');
    expect(requested).to.have.lengthOf(42);
    await own.advance(1);
    await ofNamespace('a');
    expect(requested).to.have.lengthOf(63);
  });

  it('reads the next namespace after a failure', async () => {
    let isAway = true;
    const request = async (): Promise<Sample[]> => {
      if (isAway) throw new Error('connection refused');
      return [];
    };
    const weeks = new WeekFromPrometheus(request, new ManualClock());
    const first = await weeks.read(HPA, today, signal).catch((error: Error) => error.message);
    isAway = false;
    const other = await weeks.read({ ...HPA, metadata: { ...HPA.metadata, namespace: 'b' } }, today, signal);
    expect([first, other.peaks.size, other.firstDay]).to.deep.equal(['connection refused', 0, today]);
  });
});
