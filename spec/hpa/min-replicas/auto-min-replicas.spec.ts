import { expect } from 'chai';
import { Registry } from 'prom-client';
import {
  type AutoMinDependencies,
  AutoMinReplicas,
  changeMessage,
} from '#lib/hpa/min-replicas/auto-min-replicas.ts';
import { MinReplicasReport } from '#lib/hpa/min-replicas/min-replicas-report.ts';
import { dayOf, startOfDayMs, type Week } from '#lib/hpa/min-replicas/recommended-minimum.ts';
import { PATHS, startHpaCluster } from '#spec/support/hpa-cluster.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { explainedAt, webHpa } from './built-decision.ts';

const MODE = 'autoscaling.stke.com/auto-min-replicas';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEIGHTS = [7, 6, 5, 4, 3, 2, 1];
const { signal } = new AbortController();
const AWAY =
  'Cannot read the past week of an HPA from Prometheus; automatic minReplicas uses only the days since this process first observed the HPA, and the query is retried every 15 minutes';

/** One HPA with decisions that a spec sets; its persisted state survives leaders. */
class Month {
  readonly clock = new ManualClock();
  readonly events: { day: number; reason: string; message: string }[] = [];
  readonly retained = new Map<string, string>();
  readonly patches: unknown[] = [];
  readonly logged: string[] = [];
  annotations: Readonly<Record<string, string>> = {};
  minReplicas = 10;
  isPinned = false;
  log = new MinReplicasReport(new Registry());
  controller = this.lead();
  readonly startMs = startOfDayMs(Math.ceil(this.clock.nowMs() / DAY_MS));

  /** Starts a new leader. */
  lead(more: Partial<AutoMinDependencies> = {}): AutoMinReplicas {
    this.log = new MinReplicasReport(new Registry());
    const hpas = {
      patch: async (_: unknown, { body }: { body: readonly { value: number }[] }) => {
        this.patches.push(body);
        this.minReplicas = body[1]?.value ?? 0;
      },
    } as unknown as AutoMinDependencies['hpas'];
    this.controller = new AutoMinReplicas({
      store: {
        get: async (_, key) => this.retained.get(key),
        put: async (_, key, text) =>
          void (text === undefined ? this.retained.delete(key) : this.retained.set(key, text)),
      },
      hpas,
      recordEvent: (_, event) => void this.events.push({ day: this.#day, ...event }),
      isPinned: () => this.isPinned,
      scaleLog: {
        minReplicasChanged: (hpa, { from, to }, { why }) =>
          void this.logged.push(`${hpa} ${from} ${to} ${why}`),
      },
      ...{ log: this.log, logger: new RecordingLogger(), weekBefore: undefined, isDryRun: false },
      options: { mode: 'recommend', weights: WEIGHTS },
      ...more,
    });
    return this.controller;
  }

  /** Advances by days with a decision every quarter of an hour. @param ratioAt ratio of load to target, by hour */
  async pass(days: number, ratioAt: (hour: number) => number | undefined): Promise<void> {
    for (let quarter = 0; quarter < days * 96; quarter++) {
      const explanation = explainedAt(ratioAt(quarter / 4), { minReplicas: this.minReplicas });
      const hpa = webHpa({ annotations: this.annotations, minReplicas: this.minReplicas });
      const nowMs = this.startMs + this.#passedMs;
      await this.controller.observe(hpa, explanation, { nowMs, signal });
      this.#passedMs += HOUR_MS / 4;
    }
  }

  #passedMs = 0;
  get #day(): number {
    return Math.floor(this.#passedMs / DAY_MS);
  }
}

/** Business hours: a low load at night, the given part of the target at noon. */
const noon = (peak: number) => (hour: number) =>
  peak * (0.2 + 0.8 * Math.max(0, Math.sin(((hour % 24) / 24) * Math.PI)));

describe('AutoMinReplicas', () => {
  it('recommends once a day from the fourth whole day on, and changes nothing', async () => {
    const month = new Month();
    await month.pass(30, noon(0.5));
    // Day 0 is that of the first observation; days 1 to 3 are complete.
    expect(month.events.map(({ day }) => day)).to.deep.equal(
      Array.from({ length: 26 }, (_, index) => index + 4),
    );
    expect(new Set(month.events.map(({ reason }) => reason))).to.deep.equal(
      new Set(['MinReplicasRecommended']),
    );
    expect(month.events.at(-1)?.message).to.equal(
      'minReplicas from 10 to 5: daily peaks of Resource cpu utilization in the last 7 days, latest first: ' +
        '25 25 25 25 25 25 25 (weights 7 6 5 4 3 2 1); weighted average 25, target 50',
    );
    expect(month.patches).to.deep.equal([]);
    expect(month.log.find('default/web')).to.match(/^recommended minReplicas from 10 to 5: /);
  });

  it('adjusts HPAs with the mode apply, and settles while the load stays', async () => {
    const month = new Month();
    month.annotations = { [MODE]: 'apply' };
    // The existing replicas share the same load.
    await month.pass(30, (hour) => (noon(0.5)(hour) * 10) / month.minReplicas);
    expect(month.patches).to.deep.equal([
      [
        { op: 'test', path: '/spec/minReplicas', value: 10 },
        { op: 'replace', path: '/spec/minReplicas', value: 5 },
      ],
    ]);
    expect(month.events.map(({ reason }) => reason)).to.deep.equal(['MinReplicasAdjusted']);
    expect(month.minReplicas).to.equal(5);
  });

  it('raises minReplicas for growing load only with an upper bound', async () => {
    for (const [highest, expected] of [
      [undefined, 10],
      ['12', 12],
    ] as const) {
      const month = new Month();
      month.annotations = { [MODE]: 'apply', ...(highest && { [`${MODE}-highest`]: highest }) };
      await month.pass(12, (hour) => (hour < 5 * 24 ? 1 : 1.5));
      expect(month.minReplicas, highest).to.equal(expected);
    }
  });

  it('excludes days without data', async () => {
    const month = new Month();
    await month.pass(28, (hour) => (Math.floor(hour / 24) % 7 >= 5 ? undefined : 0.5));
    const last = month.events.at(-1)?.message ?? '';
    expect(last)
      .to.match(/latest first: (?:25|-)(?: (?:25|-)){6} /)
      .and.include('-');
    expect(month.events.every(({ message }) => message.startsWith('minReplicas from 10 to 5:'))).to.equal(
      true,
    );
  });

  it('records, recommends and changes nothing while a Cron-HPA has scaled up the target', async () => {
    const month = new Month();
    await month.pass(5, () => 0.5);
    const before = month.events.length;
    month.isPinned = true;
    await month.pass(4, () => 0.1);
    expect(month.events).to.have.lengthOf(before);
    expect(month.log.find('default/web')).to.equal(
      'not changed while a Cron-HPA has scaled up the target or holds its size',
    );
    month.isPinned = false;
    await month.pass(1, () => 0.5);
    expect(month.events.at(-1)?.message).to.include('latest first: - - - - 25 25 25 '); // times under a raised minimum are not measured
  });

  it('does not repeat a day that a killed leader has evaluated', async () => {
    const month = new Month();
    await month.pass(8, noon(0.5));
    const reported = month.events.length;
    month.lead();
    await month.pass(0.5, noon(0.5)); // the day is evaluated in its first hour
    expect(month.events).to.have.lengthOf(reported + 1);
    month.lead();
    await month.pass(0.5, noon(0.5));
    expect(month.events).to.have.lengthOf(reported + 1);
    expect(month.events.at(-1)?.message).to.include('latest first: 25 25 25 25 25 25 25 ');
  });

  it('persists weeks without a change for all HPAs of a namespace at once', async () => {
    const writes: { readonly atMs: number; readonly key: string }[] = [];
    let nowMs = startOfDayMs(20_000) + 2 * HOUR_MS; // all HPAs are due
    const put = async (_: string, key: string) => void writes.push({ atMs: nowMs, key });
    const controller = new Month().lead({ store: { get: async () => undefined, put } });
    const names = ['api', 'shop', 'web'];
    const startMs = nowMs;
    while (nowMs < startMs + HOUR_MS / 4)
      for (const name of names) {
        nowMs += 5000;
        const web = webHpa({ minReplicas: 10 });
        const hpa = { ...web, metadata: { ...web.metadata, name } };
        await controller.observe(hpa, explainedAt(0.5, { minReplicas: 10 }), { nowMs, signal });
      }
    expect(writes.map(({ key }) => key).sort()).to.deep.equal(names.map((name) => `${name}_week`));
    expect(new Set(writes.map(({ atMs }) => atMs))).to.have.property('size', 1);
  });

  it('reports nothing while it cannot persist the evaluated day', async () => {
    const month = new Month();
    const failing = async () => {
      throw new Error('no');
    };
    month.lead({ store: { get: async () => undefined, put: failing } });
    await month.pass(8, noon(0.5));
    expect(month.events).to.deep.equal([]);
  });

  it('changes nothing with the mode never, unreadable state, or in a dry run', async () => {
    for (const annotations of [{ [MODE]: 'never' }, { [MODE]: 'please' }]) {
      const month = new Month();
      month.annotations = annotations;
      await month.pass(8, noon(0.5));
      expect([month.retained, month.patches]).to.deep.equal([new Map(), []]);
      const reported = month.events.map(({ reason, message }) => `${reason}: ${message}`);
      expect(reported).to.deep.equal(
        annotations[MODE] === 'never'
          ? []
          : [`InvalidAutoMinReplicas: annotation ${MODE} "please" must be one of recommend, apply, never`],
      );
    }
    const month = new Month();
    month.lead({ isDryRun: true, options: { mode: 'apply', weights: WEIGHTS } });
    await month.pass(8, noon(0.5));
    expect([month.events, [...month.retained], month.patches]).to.deep.equal([[], [], []]);
    expect(month.log.find('default/web')).to.match(/^recommended minReplicas from 10 to 5/);
  });

  it('starts with the week from Prometheus', async () => {
    const month = new Month();
    const existing = new Month();
    await existing.pass(8, noon(0.5));
    month.lead({
      weekBefore: async (_, today) => weekOfThreeDays(today),
    });
    await month.pass(1, noon(0.5));
    expect(month.events.map(({ day, message }) => [day, message.split(':')[0]])).to.deep.equal([
      [0, 'minReplicas from 10 to 4'],
    ]);
  });

  it('evaluates the first day once the query has returned', async () => {
    const month = new Month();
    const read = Promise.withResolvers<Week>();
    month.lead({ weekBefore: async () => await read.promise });
    await month.pass(0.5, noon(0.5));
    expect(month.log.find('default/web')).to.equal(undefined);
    read.resolve(weekOfThreeDays(dayOf(month.startMs)));
    await month.pass(0.5, noon(0.5));
    expect(month.events.map(({ day, message }) => [day, message.split(':')[0]])).to.deep.equal([
      [0, 'minReplicas from 10 to 4'],
    ]);
  });

  it('retries a failed query for the week, also in a later term', async () => {
    const month = new Month();
    const requested: number[] = [];
    const weekBefore = (isFailing: boolean) => async (_: unknown, firstDay: number) => {
      requested.push(firstDay);
      if (isFailing) throw new Error('connection refused');
      return weekOfThreeDays(firstDay);
    };
    const logger = new RecordingLogger();
    month.lead({ weekBefore: weekBefore(true), logger });
    await month.pass(2, noon(0.5));
    expect(requested.length).to.be.within(2 * 24 * 2, 2 * 24 * 4);
    expect(logger.lines.filter(({ message }) => message.includes('the past week'))).to.have.lengthOf(1);
    month.lead({ weekBefore: weekBefore(false) });
    await month.pass(1, noon(0.5));
    expect(new Set(requested)).to.deep.equal(new Set([dayOf(month.startMs)]));
    // Day 1 was measured; the days before day 0 come from Prometheus.
    expect(month.events.map(({ message }) => message)[0]).to.include(
      'latest first: 25 - 20 20 20 - - (weights',
    );
    const times = requested.length;
    month.lead({ weekBefore: weekBefore(true) });
    await month.pass(1, noon(0.5));
    expect(requested).to.have.lengthOf(times);
  });

  it('warns once while Prometheus is unavailable, and reports recovery', async () => {
    const month = new Month();
    const logger = new RecordingLogger();
    let isAway = true;
    const weekBefore = async (_: unknown, firstDay: number) => {
      if (isAway) throw new Error('connection refused');
      return weekOfThreeDays(firstDay);
    };
    const controller = month.lead({ weekBefore, logger });
    const see = async (name: string) => {
      const web = webHpa({ minReplicas: 10 });
      const hpa = { ...web, metadata: { ...web.metadata, name, uid: name } };
      const nowMs = month.startMs + HOUR_MS;
      await controller.observe(hpa, explainedAt(0.5, { minReplicas: 10 }), { nowMs, signal });
      await new Promise(setImmediate); // pending requests have completed or failed
    };
    for (const name of ['a', 'b', 'c']) await see(name);
    isAway = false;
    await see('d');
    isAway = true;
    await see('e');
    expect(logger.lines.map(({ level, message, fields }) => [level, message, fields])).to.deep.equal([
      ['warning', AWAY, { hpa: 'default/a', error: 'connection refused' }],
      ['info', 'Queries of Prometheus for the past week of HPAs succeed again', {}],
      ['warning', AWAY, { hpa: 'default/e', error: 'connection refused' }],
    ]);
  });

  it('stops querying once the week before would no longer count', async () => {
    const month = new Month();
    let requested = 0;
    month.lead({ weekBefore: async () => Promise.reject(new Error(`no ${++requested}`)) });
    await month.pass(7, noon(0.5));
    const before = requested;
    await month.pass(2, noon(0.5));
    expect(requested).to.equal(before);
  });
});

/** The earlier days, as Prometheus returns them. */
function weekOfThreeDays(firstDay: number): Week {
  const peaks = [1, 2, 3].map((ago) => ({ day: firstDay - ago, load: 20, minReplicas: 10 }));
  return { firstDay, judgedDay: undefined, peaks: new Map([['Resource cpu utilization', peaks]]) };
}

describe('AutoMinReplicas in a cluster', () => {
  it('adjusts with an event, reports in /debug/hpa and series, and is removed with its HPA', async () => {
    await using cluster = await startHpaCluster();
    await cluster.deployment('web', 4);
    await cluster.hpa('web', { metadata: { annotations: { [MODE]: 'apply' } }, spec: { minReplicas: 4 } });
    cluster.queue('web', '20');
    const { uid } = (await cluster.get('web')).metadata;
    await cluster.clock.advance(HOUR_MS); // from midnight: each HPA is evaluated within an hour of it
    const today = dayOf(cluster.clock.nowMs());
    const peaks = [3, 2, 1].map((ago) => [today - ago, 5, 4]); // half of the target of 10
    await cluster.api.post(PATHS.memory.replace(/\/[^/]*$/, ''), {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'autoscaler-hpa-memory' } },
      data: { web_week: JSON.stringify({ uid, first: today - 9, peaks: { 'External web average': peaks } }) },
    });
    await cluster.lead();
    await cluster.passes(async () => (await cluster.get('web')).spec.minReplicas === 2);
    expect(cluster.events.filter((event) => event.includes('MinReplicas'))).to.have.lengthOf(1);
    expect(cluster.events.find((event) => event.includes('MinReplicas'))).to.match(
      /^web MinReplicasAdjusted minReplicas from 4 to 2: daily peaks of External web average in the last 7 days/,
    );
    const series = await cluster.running.registry.metrics();
    expect(series).to.include('autoscaler_hpa_recommended_min_replicas{namespace="default",name="web"} 2');
    expect(series).to.include(
      'autoscaler_hpa_min_replicas_adjustments_total{namespace="default",name="web"} 1',
    );
    expect(Object.keys((await cluster.api.get(PATHS.memory)).body.data)).to.include('web_week');
    await cluster.api.delete(`${PATHS.hpas}/web`);
    await cluster.passes(async () => (await cluster.api.get(PATHS.memory)).status === 404);
  });

  it('evaluates the first day by the week from Prometheus', async () => {
    await using cluster = await startHpaCluster();
    await cluster.deployment('web', 4);
    await cluster.hpa('web', { spec: { minReplicas: 4 } });
    cluster.queue('web', '20');
    await cluster.clock.advance(HOUR_MS);
    const of = { horizontalpodautoscaler: 'web' };
    const load = { ...of, metric_name: 'web', metric_target_type: 'average' };
    const queryPrometheus = async (query: string) =>
      query.includes('spec_min_replicas')
        ? [{ labels: of, value: 4 }]
        : [{ labels: load, value: query.includes('group_left') ? 20 : 5 }];
    await cluster.lead({}, { queryPrometheus });
    const reported = () => cluster.events.find((event) => event.includes('MinReplicas'));
    await cluster.passes(() => reported() !== undefined, 1000);
    expect(reported()).to.equal(
      'web MinReplicasRecommended minReplicas from 4 to 2: daily peaks of External web average in the last 7 days, latest first: 5 5 5 5 5 5 5 (weights 7 6 5 4 3 2 1); weighted average 5, target 10',
    );
    expect((await cluster.get('web')).spec.minReplicas).to.equal(4);
  });
});

describe('changeMessage', () => {
  it('describes a change with daily peaks to three digits, and days without data', () => {
    const peaks = [0.123456, undefined, 1234.5, 0, 24.96];
    const change = { from: 10, to: 5, metric: 'Resource cpu utilization', peaks, weights: [5, 4, 3, 2, 1] };
    expect(changeMessage({ ...change, mean: 27.1828, target: 50 })).to.equal(
      'minReplicas from 10 to 5: daily peaks of Resource cpu utilization in the last 5 days, latest first: 0.123 - 1230 0 25 (weights 5 4 3 2 1); weighted average 27.2, target 50',
    );
  });
});
