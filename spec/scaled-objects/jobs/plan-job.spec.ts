import { expect } from 'chai';
import type { Collector } from '#lib/collection/collection.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { JobCheckFailure } from '#lib/scaled-objects/jobs/check-scaled-job.ts';
import { JobMemories } from '#lib/scaled-objects/jobs/job-memory.ts';
import { collect, jobRefusal } from '#lib/scaled-objects/jobs/plan-job.ts';

describe('jobRefusal', () => {
  const error = (statusCode: number) =>
    new ApiError('no', { statusCode, reason: undefined, retryAfterMs: undefined });

  it('takes a refusal for a reason of the object, and what the API server lacks for none', () => {
    for (const statusCode of [400, 403, 422, 499]) {
      const refusal = jobRefusal(error(statusCode));
      expect(refusal, `${statusCode}`).to.be.instanceOf(JobCheckFailure);
      expect((refusal as JobCheckFailure).full).to.equal(
        'Failed to ensure ScaledJob is correctly created: no',
      );
      expect((refusal as JobCheckFailure).message).to.equal(
        'Failed to ensure ScaledJob is correctly created',
      );
    }
    for (const other of [error(429), error(500), error(503), new Error('ECONNRESET')])
      expect(jobRefusal(other)).to.equal(other);
  });
});

describe('collect', () => {
  it('asks each metric at the interval of the object, steadily, and all of them once one is pushed', () => {
    const memory = new JobMemories(() => {}).of('default/work');
    const metric = (metricName: string) => ({ metricName, query: { key: metricName } });
    const triggers = [{ metrics: [metric('s0'), metric('s1')] }, { metrics: [metric('s2')] }];
    const found: Record<string, unknown> = {};
    const soon: string[] = [];
    let push = () => {};
    const collected = (spec: object) =>
      collect('default/work', { metadata: { name: 'work', namespace: 'default' }, spec } as never, {
        ...{ plan: { triggers } as never, memory },
        collection: {
          replace: (key: string, collectors: ReadonlyMap<string, Collector>) => {
            found[key] = Object.fromEntries(collectors);
          },
          askSoon: (key: string, name: string) => soon.push(`${key} ${name}`),
        } as never,
        pushes: {
          replace: (key: string, given: unknown, onPush: () => void) => {
            expect([key, given]).to.deep.equal(['default/work', triggers]);
            push = onPush;
          },
        } as never,
      });
    const wanted = (intervalMs: number) =>
      Object.fromEntries(
        ['s0', 's1', 's2'].map((name) => [
          name,
          {
            ...{ query: { key: name }, intervalMs, validForMs: 3 * intervalMs, isSteady: true },
            ...{ onAsked: memory.onAsked, tenant: 'default' },
          },
        ]),
      );
    collected({});
    expect(found['default/work']).to.deep.equal(wanted(30_000));
    collected({ pollingInterval: 5 });
    expect(found['default/work']).to.deep.equal(wanted(5000));
    expect(soon).to.deep.equal([]);
    push();
    expect(soon).to.deep.equal(['default/work s0', 'default/work s1', 'default/work s2']);
  });
});
