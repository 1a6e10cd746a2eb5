import { expect } from 'chai';
import { dayOf, startOfDayMs } from '#lib/hpa/auto-min/week.ts';
import { WeekFromPrometheus } from '#lib/hpa/auto-min/week-from-prometheus.ts';
import type { Sample } from '#lib/sources/query.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { followedWeb } from './built-decision.ts';

const { signal } = new AbortController();
const HPA = followedWeb({ minReplicas: 4 });
const LABELS = { horizontalpodautoscaler: 'web' };
const CPU = { ...LABELS, metric_name: 'cpu', metric_target_type: 'utilization' };

describe('WeekFromPrometheus', () => {
  const clock = new ManualClock();
  const today = dayOf(clock.nowMs());

  /** Says of each query what it is about, and how many days before today. */
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

  it('reads seven days of what kube-state-metrics tells, for all HPAs of a namespace at once', async () => {
    const queries: string[] = [];
    const ask = async (query: string): Promise<Sample[]> => {
      queries.push(query);
      const { what, daysAgo } = aboutOf(query);
      const none: Sample = { labels: {}, value: 0 };
      const other: Sample = { labels: { ...CPU, horizontalpodautoscaler: 'other' }, value: 99 };
      if (daysAgo === 2) return [none]; // nothing was scraped that day
      if (what === 'min') return [none, { labels: LABELS, value: 4 }];
      if (what === 'load') return [none, other, { labels: CPU, value: 20 }];
      return [none, other, { labels: CPU, value: daysAgo === 1 ? 80 : 160 }];
    };
    const weeks = new WeekFromPrometheus(ask, clock);
    const week = await weeks.of(HPA, today, signal);
    const peaks = week.peaks.get('Resource cpu utilization') ?? [];
    expect(peaks.map(({ day }) => today - day)).to.deep.equal([7, 6, 5, 4, 3, 1]);
    expect(peaks.at(-1)).to.deep.include({ load: 20, minReplicas: 4 }); // 80 by 4 replicas
    expect(peaks[0]).to.deep.include({ load: 40, minReplicas: 4 }); // 160 by 8 replicas
    expect(queries).to.have.lengthOf(21);
    await weeks.of(HPA, today, signal);
    expect(queries).to.have.lengthOf(21);
    expect(queries[0]).to.match(
      /^max_over_time\(kube_horizontalpodautoscaler_spec_min_replicas\{namespace="default"\}\[1d\] offset \d+s\) or vector\(0\)$/,
    );
  });

  it('reads other days for an HPA that was first seen on another day', async () => {
    const days = new Set<number>();
    const ask = async (query: string): Promise<Sample[]> => {
      days.add(aboutOf(query).daysAgo);
      return [];
    };
    const weeks = new WeekFromPrometheus(ask, clock);
    await weeks.of(HPA, today - 3, signal);
    await weeks.of(HPA, today, signal);
    expect([...days].sort((one, other) => one - other)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('tells why it has none', async () => {
    const weeks = new WeekFromPrometheus(async () => Promise.reject(new Error('connection refused')), clock);
    const complaint = await weeks.of(HPA, today, signal).catch((error: Error) => error.message);
    expect(complaint).to.equal('connection refused');
  });
});
