import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import type { ApiContext, RequestState } from '#lib/apiserver/http/api-context.ts';
import type { CronHpa } from '#lib/cron-hpa/cron-hpa.ts';
import { type DebuggedCronHpas, debugCronHpas } from '#lib/cron-hpa/debug/debug-cron-hpas.ts';
import { Schedules } from '#lib/schedule/schedules.ts';
import { cronHpa } from '#spec/support/cron-hpas.ts';

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
