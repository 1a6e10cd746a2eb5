import { expect } from 'chai';
import type { ScaledObjectStatus } from '#lib/scaled-objects/api/scaled-object.ts';
import { fallbackReplicas, fallbackValue, HealthCounter } from '#lib/scaled-objects/metrics/fallback.ts';

const average = { target: 2.5, targetType: 'AverageValue' } as const;
const total = { target: 10, targetType: 'Value' } as const;
const at = (replicas: number | undefined, readyPods?: number) => ({
  replicas,
  readyPods,
  modifiers: undefined,
});

describe('fallbackReplicas', () => {
  for (const [behavior, current, expected] of [
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
    it(`is ${expected} by ${behavior} of ${current}`, () => {
      const fallback = { failureThreshold: 1, replicas: 4, ...(behavior && { behavior }) };
      expect(fallbackReplicas(fallback, current)).to.equal(expected);
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

  it('is unknown without a ready pod, or without the current replicas that it depends on', () => {
    expect(() => fallbackValue(total, fallback, at(2, 0))).to.throw('error performing fallback');
    expect(fallbackValue(average, { ...fallback, behavior: 'currentReplicas' }, at(undefined))).to.equal(
      undefined,
    );
  });

  it('uses the target of a formula if there is one, including fractions', () => {
    const modifiers = { target: 0.5, metricType: 'AverageValue' } as never;
    expect(fallbackValue(average, fallback, { ...at(1), modifiers })).to.equal(2);
  });
});

type Health = NonNullable<ScaledObjectStatus['health']>;

const MAX = 10;

describe('HealthCounter', () => {
  const requested = (pollCount: number, failuresInARow: number) => [
    { metricName: 's0-a', pollCount, failuresInARow },
  ];
  const failuresIn = (health: Health) => health['s0-a']?.numberOfFailures;

  it('counts failures in a row, regardless of successes between two evaluations', () => {
    const counter = new HealthCounter();
    let health: Health = counter.next({}, requested(1, 0), MAX);
    expect(health).to.deep.equal({ 's0-a': { numberOfFailures: 0, status: 'Happy' } });
    health = counter.next(health, requested(7, 1), MAX);
    expect(health).to.deep.equal({ 's0-a': { numberOfFailures: 1, status: 'Failing' } });
    health = counter.next(health, requested(7, 1), MAX);
    health = counter.next(health, requested(9, 3), MAX);
    expect(failuresIn(health)).to.equal(3);
    health = counter.next(health, requested(1, 1), MAX); // its collector was recreated
    expect(failuresIn(health)).to.equal(4);
    expect(failuresIn(counter.next(health, requested(90, 89), MAX))).to.equal(MAX);
    expect(failuresIn(counter.next(health, requested(91, 0), MAX))).to.equal(0);
  });

  it('drops a removed metric', () => {
    const counter = new HealthCounter();
    counter.next({}, requested(10, 0), MAX);
    counter.next({}, [{ metricName: 's0-b', pollCount: 1, failuresInARow: 0 }], MAX);
    expect(failuresIn(counter.next({}, requested(11, 5), MAX))).to.equal(5);
  });

  it('does not count again, in a new term, what its predecessor has counted', () => {
    const counted = { 's0-a': { numberOfFailures: 3, status: 'Failing' as const } };
    // This replica has polled throughout, and had the same failures.
    expect(failuresIn(new HealthCounter().next(counted, requested(40, 4), MAX))).to.equal(4);
    expect(failuresIn(new HealthCounter().next(counted, requested(1, 1), MAX))).to.equal(4);
    expect(failuresIn(new HealthCounter().next({}, requested(40, 5), MAX))).to.equal(5);
  });
});
