import { expect } from 'chai';
import type { ScaledObjectStatus } from '#lib/scaled-objects/api/scaled-object.ts';
import { HealthCounter } from '#lib/scaled-objects/values/metric-health.ts';

type Health = NonNullable<ScaledObjectStatus['health']>;

const MOST = 10;

describe('HealthCounter', () => {
  const asked = (askedCount: number, failuresInARow: number) => [
    { metricName: 's0-a', askedCount, failuresInARow },
  ];
  const failuresIn = (health: Health) => health['s0-a']?.numberOfFailures;

  it('counts failures in a row, whatever went well between two looks', () => {
    const counter = new HealthCounter();
    let health: Health = counter.next({}, asked(1, 0), MOST);
    expect(health).to.deep.equal({ 's0-a': { numberOfFailures: 0, status: 'Happy' } });
    health = counter.next(health, asked(7, 1), MOST);
    expect(health).to.deep.equal({ 's0-a': { numberOfFailures: 1, status: 'Failing' } });
    health = counter.next(health, asked(7, 1), MOST);
    health = counter.next(health, asked(9, 3), MOST);
    expect(failuresIn(health)).to.equal(3);
    health = counter.next(health, asked(1, 1), MOST); // its collector was made again
    expect(failuresIn(health)).to.equal(4);
    expect(failuresIn(counter.next(health, asked(90, 89), MOST))).to.equal(MOST);
    expect(failuresIn(counter.next(health, asked(91, 0), MOST))).to.equal(0);
  });

  it('remembers nothing of a metric that is gone', () => {
    const counter = new HealthCounter();
    counter.next({}, asked(10, 0), MOST);
    counter.next({}, [{ metricName: 's0-b', askedCount: 1, failuresInARow: 0 }], MOST);
    expect(failuresIn(counter.next({}, asked(11, 5), MOST))).to.equal(5);
  });

  it('does not count again, in a new term, what its predecessor has counted', () => {
    const counted = { 's0-a': { numberOfFailures: 3, status: 'Failing' as const } };
    // This replica has asked all along, and seen the same failures.
    expect(failuresIn(new HealthCounter().next(counted, asked(40, 4), MOST))).to.equal(4);
    expect(failuresIn(new HealthCounter().next(counted, asked(1, 1), MOST))).to.equal(4);
    expect(failuresIn(new HealthCounter().next({}, asked(40, 5), MOST))).to.equal(5);
  });
});
