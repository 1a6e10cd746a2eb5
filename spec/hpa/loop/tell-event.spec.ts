import { expect } from 'chai';
import { tell } from '#lib/hpa/loop/tell-event.ts';
import { followedWeb } from '../auto-min/built-decision.ts';

describe('tell', () => {
  it('records an event with the HPA, as it was, and none in a dry run', () => {
    const web = followedWeb({ minReplicas: 1 });
    const hpa = { ...web, metadata: { ...web.metadata, resourceVersion: '7' } };
    const event = { type: 'Warning', reason: 'FailedGetScale', message: 'gone' } as const;
    const recorded = (isDryRun: boolean) => {
      const all: unknown[] = [];
      tell(hpa, { events: { record: (one) => void all.push(one) }, options: { isDryRun } }, event);
      return all;
    };
    expect(recorded(false)).to.deep.equal([
      {
        regarding: {
          ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler' },
          ...{ namespace: 'default', name: 'web', uid: 'u', resourceVersion: '7' },
        },
        ...{ action: 'Scale', type: 'Warning', reason: 'FailedGetScale', message: 'gone' },
      },
    ]);
    expect(recorded(true)).to.deep.equal([]);
  });
});
