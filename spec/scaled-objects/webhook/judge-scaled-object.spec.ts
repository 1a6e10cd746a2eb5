import { expect } from 'chai';
import type { ScaledObject } from '#lib/scaled-objects/objects/scaled-object.ts';
import { judgeScaledObject } from '#lib/scaled-objects/webhook/judge-scaled-object.ts';

const OBJECT: ScaledObject = {
  metadata: { name: 'web', namespace: 'shop' },
  spec: {
    ...{ scaleTargetRef: { name: 'web' }, minReplicaCount: 1 },
    triggers: [{ type: 'cpu', metricType: 'Utilization', metadata: { value: '50' } }],
  },
};

describe('judgeScaledObject', () => {
  for (const [what, containers, limits, isAllowed, isAsked] of [
    ['requests', ['cpu'], [], true, false],
    ['a LimitRange', [], ['cpu'], true, true],
    ['a LimitRange of something else', [], ['memory'], false, true],
    ['nothing', [], [], false, true],
    ['what is not known in time', [], undefined, true, true],
  ] as const) {
    it(`${isAllowed ? 'takes' : 'refuses'} a trigger of cpu where there is ${what}, and asks only where it has to`, async () => {
      const asked: string[] = [];
      const verdict = await judgeScaledObject(
        OBJECT,
        { isNew: true, isDryRun: false },
        {
          rivalsOf: () => [],
          hpasOf: () => [],
          workload: () => ({
            ...{ replicas: 1, readyReplicas: 1 },
            containers: [{ name: 'main', resources: containers }],
          }),
          async limitedByDefault(namespace) {
            asked.push(namespace);
            if (!limits) throw new Error('too late');
            return limits;
          },
        },
      );
      expect(verdict.isAllowed).to.equal(isAllowed);
      expect(verdict.rule).to.equal(isAllowed ? undefined : 'missing-requests');
      expect(asked).to.deep.equal(isAsked ? ['shop'] : []);
    });
  }
});
