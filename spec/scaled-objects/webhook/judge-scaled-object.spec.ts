import { expect } from 'chai';
import type { ScaledObject } from '#lib/scaled-objects/api/scaled-object.ts';
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
        { before: undefined, isDryRun: false },
        {
          rivalsOf: () => [],
          hpasBeside: () => [],
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

  it('takes triggers of cpu and memory, too, where it is not known in time what containers get by default', async () => {
    const trigger = (type: string) =>
      ({ type, metricType: 'Utilization', metadata: { value: '50' } }) as const;
    for (const type of ['cpu', 'memory']) {
      const object = { ...OBJECT, spec: { ...OBJECT.spec, triggers: [trigger(type)] } };
      const { isAllowed } = await judgeScaledObject(
        object,
        { before: undefined, isDryRun: false },
        {
          ...{ rivalsOf: () => [], hpasBeside: () => [] },
          workload: () => ({ replicas: 1, readyReplicas: 1, containers: [{ name: 'main', resources: [] }] }),
          limitedByDefault: () => Promise.reject(new Error('too late')),
        },
      );
      expect(isAllowed, type).to.equal(true);
    }
  });

  for (const [what, before, after, other, isAllowed] of [
    ['is pointed at the target of a younger one', one('api'), one('web'), younger('web'), false],
    ['is given the HPA of a younger one', one('web'), one('web', 'b'), younger('api', 'b'), false],
    ['has the target that a younger one wants, too', one('web'), one('web', 'b'), younger('web'), true],
    ['gives its target up to a younger one', one('web'), one('api'), younger('web'), true],
    ['has the target of an older one', one('web'), one('web', 'b'), older('web'), false],
  ] as const) {
    it(`${isAllowed ? 'takes' : 'refuses'} the update of an object that ${what}`, async () => {
      const { isAllowed: isTaken } = await judgeScaledObject(
        after,
        { before, isDryRun: false },
        {
          rivalsOf: () => [other],
          hpasBeside: () => [],
          workload: () => undefined,
          limitedByDefault: async () => [],
        },
      );
      expect(isTaken).to.equal(isAllowed);
    });
  }
});

/** An object of February. */
function one(target: string, hpa = 'a', name = 'one', month = '02'): ScaledObject {
  return {
    metadata: { name, namespace: 'shop', uid: name, creationTimestamp: `2026-${month}-01T00:00:00Z` },
    spec: {
      scaleTargetRef: { name: target },
      triggers: [{ type: 'cron', metadata: {} }],
      advanced: { horizontalPodAutoscalerConfig: { name: hpa } },
    },
  };
}

function younger(target: string, hpa = 'c'): ScaledObject {
  return one(target, hpa, 'younger', '03');
}

function older(target: string, hpa = 'c'): ScaledObject {
  return one(target, hpa, 'older', '01');
}
