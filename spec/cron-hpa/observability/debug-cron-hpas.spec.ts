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
import { Schedules } from '#lib/schedule/schedules.ts';
import { cronHpa, hpa, job, planAt } from '#spec/support/cron-hpas.ts';

const READY = { status: 'True', reason: 'Scheduled', message: 'all jobs are scheduled' } as const;
const FAILED = { status: 'False', reason: 'ScalingFailed', message: 'no "web"\u001b[2J' } as const;

describe('debugCronHpas', () => {
  const objects = [
    cronHpa({ name: 'well', status: { ready: READY, nextScheduleTime: '2026-07-15T08:00:00Z' } } as never),
    cronHpa({ name: 'ill', status: { ready: FAILED, lastResult: 'Failed' } } as never),
    cronHpa({ namespace: 'other', name: 'new' }),
  ];

  it('tells of all objects in short, those first that are not ready', () => {
    const { total, ready, items } = asked('');
    expect([total, ready]).to.deep.equal([3, 1]);
    expect(items).to.deep.equal([
      {
        ...{ namespace: 'default', name: 'ill', target: 'Deployment web', jobs: 1, lastResult: 'Failed' },
        ...{ ready: 'False', reason: 'ScalingFailed', message: 'no "web"\u001b[2J' },
      },
      { namespace: 'other', name: 'new', target: 'Deployment web', jobs: 1, ready: 'Unknown' },
      {
        ...{ namespace: 'default', name: 'well', target: 'Deployment web', jobs: 1 },
        ...{ nextScheduleTime: '2026-07-15T08:00:00Z' },
        ...{ ready: 'True', reason: 'Scheduled', message: 'all jobs are scheduled' },
      },
    ]);
  });

  it('tells of those of a namespace, and of as many as are asked for', () => {
    expect(asked('?namespace=other')).to.deep.include({ total: 1, ready: 0 });
    expect(asked('?limit=2').items).to.have.length(2);
    expect(asked('?limit=2').total).to.equal(3);
    expect(asked('?limit=0').items).to.deep.equal([]);
    const many = Array.from({ length: 1001 }, (_, index) => cronHpa({ name: `web-${index}` }));
    expect(asked('', many).items).to.have.length(1000);
  });

  it('tells all of one', () => {
    const told = asked('?namespace=default&name=ill');
    expect(told).to.deep.include({ namespace: 'default', name: 'ill' });
    expect(told.next).to.deep.equal({ job: 'morning', time: '2026-07-15T08:00:00.000Z' });
  });

  it('refuses what cannot be told, and says why', () => {
    for (const [search, code, message] of [
      ['?name=ill', 400, /a name needs a namespace/],
      [
        '?namespace=default&name=gone',
        404,
        /^cronhorizontalpodautoscalers\.autoscaling\.stke\.com "default\/gone" not found$/,
      ],
      ['?namespce=a', 400, /unknown query parameter "namespce": it takes namespace, name, limit/],
      ['?limit=many', 400, /limit must be a whole number/],
      ['?limit=-1', 400, /limit must be a whole number/],
      ['?limit=1000000000', 400, /limit must be a whole number/],
    ] as const) {
      expect(() => asked(search), search)
        .to.throw(message)
        .which.includes({ code });
    }
    expect(() => asked('', objects, 'POST'))
      .to.throw()
      .which.includes({ code: 405 });
    expect(asked('', objects, 'HEAD')).to.include({ total: 3 });
  });

  it('writes no control character of others', () => {
    expect(written('')).to.not.include('\u001b');
  });

  // biome-ignore lint/suspicious/noExplicitAny: what is told is JSON
  function asked(search: string, known = objects, method = 'GET'): any {
    return JSON.parse(written(search, known, method));
  }

  function written(search: string, known: readonly CronHpa[] = objects, method = 'GET'): string {
    const source: DebuggedCronHpas = {
      values: () => known,
      find: (namespace, name) => known.find((one) => one.namespace === namespace && one.name === name),
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
  it('tells what is next, and that nothing else scales the target', () => {
    const told = described(cronHpa());
    expect(told.next).to.deep.equal({ job: 'morning', time: '2026-07-15T08:00:00.000Z' });
    expect(told.moves).to.deep.equal({
      ...{ what: 'replicas', of: 'web', why: 'nothing else scales Deployment "web"' },
    });
    expect(told.due).to.equal(undefined);
    expect(told.jobs[0]).to.deep.include({
      state: 'not seen yet by the leader',
      timeZone: 'UTC',
      targetSize: 3,
    });
  });

  it('tells which HPA is moved, and who else hinders', () => {
    expect(described(cronHpa(), { hpa: hpa({ name: 'web-hpa' }) }).moves).to.deep.equal({
      ...{ what: 'minReplicas', of: 'web-hpa', minReplicas: 2, maxReplicas: 5 },
      why: 'HorizontalPodAutoscaler "web-hpa" scales Deployment "web", and goes on above what jobs set',
    });
    const owned = hpa({ controller: { kind: 'ScaledObject', name: 'queue' } });
    expect(described(cronHpa(), { hpa: owned }).hindrance).to.include({ reason: 'OwnedByScaledObject' });
    const rival = cronHpa({ name: 'other' });
    expect(described(cronHpa(), { others: [rival] }).hindrance).to.include({ reason: 'TargetConflict' });
  });

  it('tells that minReplicas are to be moved of an HPA that is not there', () => {
    const nothing = (target: string) => ({
      what: 'nothing',
      why: `no HorizontalPodAutoscaler scales ${target}, whose minReplicas are to be moved`,
    });
    const annotations = { 'platform.stke/adjust-hpa-min': 'true' };
    expect(described(cronHpa({ annotations })).moves).to.deep.equal(nothing('Deployment "web"'));
    const scaleTargetRef = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', name: 'web' };
    expect(described(cronHpa({ spec: { scaleTargetRef } })).moves).to.deep.equal(
      nothing('HorizontalPodAutoscaler "web"'),
    );
    const no = { 'platform.stke/adjust-hpa-min': 'false' };
    expect(described(cronHpa({ annotations: no })).moves).to.include({ what: 'replicas' });
  });

  it('tells why a job is never due', () => {
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
    expect(ended.jobs[0]).to.include({ neverDueBecause: 'runOnce is true, and it has run', next: undefined });
    expect(ended.next).to.equal(undefined);
  });

  it('tells what is due and has not been done, and what was missed', () => {
    const [planned] = planAt(cronHpa(), NOW);
    const condition = conditionOf({ specHash: planned?.specHash ?? '' });
    const told = described(cronHpa({ status: { jobs: [condition], scaleUpKeepWindow: false } }));
    expect(told.due).to.deep.equal({ job: 'morning', time: '2026-07-14T08:00:00.000Z' });
    expect(told.missed).to.deep.equal([{ job: 'morning', count: 1, why: 'overtaken' }]);
    expect(told.jobs).to.deep.equal([
      {
        ...{ name: 'morning', schedule: '0 0 8 * * *', timeZone: 'UTC', targetSize: 3 },
        ...{ next: '2026-07-15T08:00:00.000Z', neverDueBecause: undefined, state: 'Succeed' },
        ...{ lastActivation: '2026-07-12T08:00:00Z', message: 'done' },
      },
    ]);
  });

  it('takes what is later than startingDeadlineSeconds for missed', () => {
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

/** A job that was activated three days before. */
function conditionOf(changes: Pick<JobCondition, 'specHash'>): JobCondition {
  return {
    ...{ jobId: '1', name: 'morning', schedule: '0 0 8 * * *', state: 'Succeed', message: 'done' },
    ...{ lastProbeTime: '2026-07-12T08:00:00Z', submittedTime: '2026-07-10T08:00:00Z' },
    ...{ lastActivationTime: '2026-07-12T08:00:00Z' },
    ...changes,
  };
}
