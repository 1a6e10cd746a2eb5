import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import type { ApiContext, RequestState } from '#lib/apiserver/http/api-context.ts';
import type { CronHpa, JobCondition } from '#lib/cron-hpa/cron-hpa.ts';
import {
  type DebuggedCronHpas,
  debugCronHpas,
  describeCronHpa,
} from '#lib/cron-hpa/observability/debug-cron-hpas.ts';
import type { Hpa } from '#lib/cron-hpa/target-conflicts.ts';
import { Schedules } from '#lib/schedule/parse-schedule.ts';
import { cronHpa, hpa, job, planAt } from '#spec/support/cron-hpas.ts';

const READY = { status: 'True', reason: 'Scheduled', message: 'all jobs are scheduled' } as const;
const FAILED = { status: 'False', reason: 'ScalingFailed', message: 'no "web"\u001b[2J' } as const;

describe('debugCronHpas', () => {
  const objects = [
    cronHpa({ name: 'well', status: { ready: READY, nextScheduleTime: '2026-07-15T08:00:00Z' } } as never),
    cronHpa({ name: 'ill', status: { ready: FAILED, lastResult: 'Failed' } } as never),
    cronHpa({ namespace: 'other', name: 'new' }),
  ];

  it('summarizes all objects, unready ones first', () => {
    const group = 'autoscaling.stke.com';
    const { total, ready, items } = requested('');
    expect([total, ready]).to.deep.equal([3, 1]);
    expect(items).to.deep.equal([
      {
        group,
        ...{ namespace: 'default', name: 'ill', target: 'Deployment web', jobs: 1, lastResult: 'Failed' },
        ...{ ready: 'False', reason: 'ScalingFailed', message: 'no "web"\u001b[2J' },
      },
      { group, namespace: 'other', name: 'new', target: 'Deployment web', jobs: 1, ready: 'Unknown' },
      {
        group,
        ...{ namespace: 'default', name: 'well', target: 'Deployment web', jobs: 1 },
        ...{ nextScheduleTime: '2026-07-15T08:00:00Z' },
        ...{ ready: 'True', reason: 'Scheduled', message: 'all jobs are scheduled' },
      },
    ]);
  });

  it('lists objects of a namespace, up to the limit', () => {
    expect(requested('?namespace=other')).to.deep.include({ total: 1, ready: 0 });
    expect(requested('?limit=2').items).to.have.length(2);
    expect(requested('?limit=2').total).to.equal(3);
    expect(requested('?limit=0').items).to.deep.equal([]);
    const many = Array.from({ length: 1001 }, (_, index) => cronHpa({ name: `web-${index}` }));
    expect(requested('', many).items).to.have.length(1000);
  });

  it('describes one object', () => {
    const reported = requested('?namespace=default&name=ill');
    expect(reported).to.deep.include({ namespace: 'default', name: 'ill' });
    expect(reported.next).to.deep.equal({ job: 'morning', time: '2026-07-15T08:00:00.000Z' });
  });

  it('describes each object of a name, and not those of other names', () => {
    const other = cronHpa({ name: 'ill', group: 'autoscaling.alibabacloud.com', spec: { jobs: [] } });
    const reported = requested('?namespace=default&name=ill', [...objects, other]);
    expect(reported).to.deep.include({ group: 'autoscaling.stke.com', name: 'ill' });
    expect(reported.sameName).to.have.lengthOf(1);
    expect(reported.sameName[0]).to.deep.include({ group: other.group, name: 'ill', jobs: [] });
    expect(requested('?namespace=default&name=ill')).not.to.have.property('sameName');
    expect(requested('?namespace=default&name=ill', [other])).to.include({ group: other.group });
  });

  it('rejects invalid queries, with the cause', () => {
    for (const [search, code, message] of [
      ['?name=ill', 400, /the parameter "name" requires the parameter "namespace"/],
      [
        '?namespace=default&name=gone',
        404,
        /^cronhorizontalpodautoscalers\.autoscaling\.stke\.com "default\/gone" not found$/,
      ],
      ['?namespce=a', 400, /unknown query parameter "namespce": supported: namespace, name, limit/],
      ['?limit=many', 400, /the parameter "limit" must be an integer of at most 6 digits/],
      ['?limit=-1', 400, /the parameter "limit" must be an integer of at most 6 digits/],
      ['?limit=1000000000', 400, /the parameter "limit" must be an integer of at most 6 digits/],
    ] as const) {
      expect(() => requested(search), search)
        .to.throw(message)
        .which.includes({ code });
    }
    expect(() => requested('', objects, 'POST'))
      .to.throw()
      .which.includes({ code: 405 });
    expect(requested('', objects, 'HEAD')).to.include({ total: 3 });
  });

  it('escapes control characters', () => {
    expect(written('')).to.not.include('\u001b');
  });

  // biome-ignore lint/suspicious/noExplicitAny: the response is JSON
  function requested(search: string, existing = objects, method = 'GET'): any {
    return JSON.parse(written(search, existing, method));
  }

  function written(search: string, existing: readonly CronHpa[] = objects, method = 'GET'): string {
    const source: DebuggedCronHpas = {
      values: () => existing,
      findAll: (namespace, name) =>
        existing.filter((one) => one.namespace === namespace && one.name === name),
      others: () => ({ hpa: undefined, others: [] }),
      planOptions: () => ({
        ...{ nowMs: Date.parse('2026-07-15T07:00:00Z'), timeZone: 'UTC', schedules: new Schedules() },
      }),
    };
    const request = Object.assign(new IncomingMessage(new Socket()), { method });
    const context = new Koa<RequestState>().createContext(
      request,
      new ServerResponse(request),
    ) as unknown as ApiContext;
    context.state.query = new URLSearchParams(search);
    void debugCronHpas(source)(context);
    return String(context.body);
  }
});

const NOW = '2026-07-15T07:00:00Z';

describe('describeCronHpa', () => {
  it('returns the next activation, and that no HPA scales the target', () => {
    const reported = described(cronHpa());
    expect(reported.next).to.deep.equal({ job: 'morning', time: '2026-07-15T08:00:00.000Z' });
    expect(reported.sets).to.deep.equal({
      ...{ what: 'replicas', of: 'web', why: 'no HorizontalPodAutoscaler scales Deployment "web"' },
    });
    expect(reported.due).to.equal(undefined);
    expect(reported.jobs[0]).to.deep.include({
      state: 'not reconciled yet',
      timeZone: 'UTC',
      targetSize: 3,
    });
  });

  it('returns the HPA that is set, and the blocker', () => {
    expect(described(cronHpa(), { hpa: hpa({ name: 'web-hpa' }) }).sets).to.deep.equal({
      ...{ what: 'minReplicas', of: 'web-hpa', minReplicas: 2, maxReplicas: 5 },
      why: 'HorizontalPodAutoscaler "web-hpa" scales Deployment "web" between minReplicas and maxReplicas',
    });
    const held = cronHpa({ annotations: { 'platform.stke/adjust-hpa-min': 'hold' } });
    expect(described(held, { hpa: hpa() }).sets).to.include({ what: 'minReplicas and maxReplicas' });
    const owned = hpa({ controller: { kind: 'ScaledObject', name: 'queue' } });
    expect(described(cronHpa(), { hpa: owned }).blocker).to.include({ reason: 'OwnedByScaledObject' });
    const conflicting = cronHpa({ name: 'other' });
    expect(described(cronHpa(), { others: [conflicting] }).blocker).to.include({ reason: 'TargetConflict' });
  });

  it('returns that jobs set minReplicas of a missing HPA', () => {
    const nothing = (target: string) => ({
      what: 'nothing',
      why: `no HorizontalPodAutoscaler scales ${target}, and the jobs set minReplicas`,
    });
    const annotations = { 'platform.stke/adjust-hpa-min': 'true' };
    expect(described(cronHpa({ annotations })).sets).to.deep.equal(nothing('Deployment "web"'));
    const scaleTargetRef = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', name: 'web' };
    expect(described(cronHpa({ spec: { scaleTargetRef } })).sets).to.deep.equal(
      nothing('HorizontalPodAutoscaler "web"'),
    );
    const no = { 'platform.stke/adjust-hpa-min': 'false' };
    expect(described(cronHpa({ annotations: no })).sets).to.include({ what: 'replicas' });
  });

  it('returns why a job is never due', () => {
    const jobs = [
      job({ name: 'text', schedule: 'x' }),
      job({ name: 'rests', suspend: true }),
      job({ name: 'daily' }),
    ];
    const [text, rests, daily] = described(cronHpa({ spec: { jobs } })).jobs;
    expect(text?.neverDueBecause).to.include('Cannot read schedule "x"');
    expect(rests?.neverDueBecause).to.equal('suspend is true');
    expect(daily).to.have.property('neverDueBecause', undefined);
    expect([text, rests, daily].map((one) => one?.next)).to.deep.equal([
      ...[undefined, undefined, '2026-07-15T08:00:00.000Z'],
    ]);
    const runOnce = { jobs: [job({ runOnce: true })] };
    const [planned] = planAt(cronHpa({ spec: runOnce }), NOW);
    const condition = conditionOf({ specHash: planned?.specHash ?? '' });
    const ended = described(
      cronHpa({ spec: runOnce, status: { jobs: [condition], scaleUpKeepWindow: false } }),
    );
    expect(ended.jobs[0]).to.include({
      neverDueBecause: 'runOnce is true, and the job has run',
      next: undefined,
    });
    expect(ended.next).to.equal(undefined);
  });

  it('returns the due activation, and the missed ones', () => {
    const [planned] = planAt(cronHpa(), NOW);
    const condition = conditionOf({ specHash: planned?.specHash ?? '' });
    const reported = described(cronHpa({ status: { jobs: [condition], scaleUpKeepWindow: false } }));
    expect(reported.due).to.deep.equal({ job: 'morning', time: '2026-07-14T08:00:00.000Z' });
    expect(reported.missed).to.deep.equal([{ job: 'morning', count: 1, why: 'overtaken' }]);
    expect(reported.jobs).to.deep.equal([
      {
        ...{ name: 'morning', schedule: '0 0 8 * * *', timeZone: 'UTC', targetSize: 3 },
        ...{ next: '2026-07-15T08:00:00.000Z', neverDueBecause: undefined, state: 'Succeed' },
        ...{ lastActivation: '2026-07-12T08:00:00Z', message: 'done' },
      },
    ]);
  });

  it('counts an activation later than startingDeadlineSeconds as missed', () => {
    const jobs = [job()];
    const dueWith = (startingDeadlineSeconds: number) => {
      const spec = { jobs, startingDeadlineSeconds };
      const [planned] = planAt(cronHpa({ spec }), NOW);
      const condition = conditionOf({ specHash: planned?.specHash ?? '' });
      return described(cronHpa({ spec, status: { jobs: [condition], scaleUpKeepWindow: false } }));
    };
    expect(dueWith(23 * 3600).due).to.include({ job: 'morning' });
    const late = dueWith(23 * 3600 - 1);
    expect(late.due).to.equal(undefined);
    expect(late.missed).to.deep.equal([{ job: 'morning', count: 2, why: 'too late' }]);
  });
});

function described(object: CronHpa, { hpa, others = [] }: { hpa?: Hpa; others?: readonly CronHpa[] } = {}) {
  const plan = { nowMs: Date.parse(NOW), timeZone: 'UTC', schedules: new Schedules() };
  return describeCronHpa(object, { ...plan, hpa, others });
}

/** A job that ran three days ago. */
function conditionOf(changes: Pick<JobCondition, 'specHash'>): JobCondition {
  return {
    ...{ jobId: '1', name: 'morning', schedule: '0 0 8 * * *', state: 'Succeed', message: 'done' },
    ...{ lastProbeTime: '2026-07-12T08:00:00Z', submittedTime: '2026-07-10T08:00:00Z' },
    ...{ lastActivationTime: '2026-07-12T08:00:00Z' },
    ...changes,
  };
}
