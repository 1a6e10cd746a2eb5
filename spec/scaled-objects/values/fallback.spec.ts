import { expect } from 'chai';
import { fallbackReplicas, fallbackValue } from '#lib/scaled-objects/values/fallback.ts';

const average = { target: 2.5, targetType: 'AverageValue' } as const;
const total = { target: 10, targetType: 'Value' } as const;
const at = (replicas: number | undefined, readyPods?: number) => ({
  replicas,
  readyPods,
  modifiers: undefined,
});

describe('fallbackReplicas', () => {
  for (const [behavior, current, wanted] of [
    [undefined, 9, 4],
    ['static', undefined, 4],
    ['scalingModifiers', undefined, 4],
    ['currentReplicas', 9, 9],
    ['currentReplicas', undefined, undefined],
    ['currentReplicasIfHigher', 9, 9],
    ['currentReplicasIfHigher', 2, 4],
    ['currentReplicasIfLower', 9, 4],
    ['currentReplicasIfLower', 2, 2],
    ['currentReplicasIfLower', undefined, undefined],
  ] as const)
    it(`is ${wanted} by ${behavior} of ${current}`, () => {
      const fallback = { failureThreshold: 1, replicas: 4, ...(behavior && { behavior }) };
      expect(fallbackReplicas(fallback, current)).to.equal(wanted);
    });
});

describe('fallbackValue', () => {
  const fallback = { failureThreshold: 1, replicas: 4 };

  it('is the target of so many replicas', () => {
    expect(fallbackValue(average, fallback, at(1))).to.equal(10);
  });

  it('is that of each ready pod, where the HPA multiplies by them', () => {
    expect(fallbackValue(total, fallback, at(2, 5))).to.equal(8);
  });

  it('cannot be told without a ready pod, or without the current replicas that it asks for', () => {
    expect(() => fallbackValue(total, fallback, at(2, 0))).to.throw('error performing fallback');
    expect(fallbackValue(average, { ...fallback, behavior: 'currentReplicas' }, at(undefined))).to.equal(
      undefined,
    );
  });

  it('goes by the target of a formula where there is one, of whatever fraction', () => {
    const modifiers = { target: 0.5, metricType: 'AverageValue' } as never;
    expect(fallbackValue(average, fallback, { ...at(1), modifiers })).to.equal(2);
  });
});
