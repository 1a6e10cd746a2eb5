import { expect } from 'chai';
import { actedOnElsewhere, withoutElsewhere } from '#lib/hpa/loop/elsewhere-condition.ts';
import { followedWeb } from '../auto-min/built-decision.ts';

const web = followedWeb({ minReplicas: 1 });
const other = { manager: 'kube-controller-manager', writtenAtMs: 0 };
const ABLE = { type: 'AbleToScale', status: 'True', reason: 'ReadyForNewScale', message: 'ready' } as const;

describe('actedOnElsewhere', () => {
  const at = (nowMs: number, hpa = web) => actedOnElsewhere(hpa, other, { nowMs, periodMs: 15_000 });

  it('says who else acts, and for how long that counts, beside what the status says', () => {
    const message =
      '"kube-controller-manager" writes the status of this HPA, too, so this controller leaves it alone until that has not happened for 45s; switch one of both off';
    const hpa = { ...web, status: { desiredReplicas: 3, conditions: [ABLE] } };
    const { status, event } = at(60_000, hpa);
    expect(event).to.deep.equal({ type: 'Warning', reason: 'AnotherControllerActs', message });
    expect(status).to.deep.equal({
      desiredReplicas: 3,
      conditions: [
        ABLE,
        {
          ...{ type: 'ControlledElsewhere', status: 'True', lastTransitionTime: '1970-01-01T00:01:00Z' },
          ...{ reason: 'AnotherControllerActs', message },
        },
      ],
    });
  });

  it('says so of an HPA that has no status yet, which has to have a number of replicas', () => {
    expect(at(0).status)
      .to.deep.include({ desiredReplicas: 0 })
      .and.have.nested.property('conditions.length', 1);
  });

  it('says it once, and since when', () => {
    const { status } = at(120_000, { ...web, status: at(60_000).status });
    expect(status.conditions?.map(({ lastTransitionTime }) => lastTransitionTime)).to.deep.equal([
      '1970-01-01T00:01:00Z',
    ]);
  });
});

describe('withoutElsewhere', () => {
  it('takes the condition away, and leaves every other HPA as it is', () => {
    const hpa = { ...web, status: { desiredReplicas: 3, conditions: [ABLE] } };
    const acted = actedOnElsewhere(hpa, other, { nowMs: 0, periodMs: 15_000 });
    expect(withoutElsewhere({ ...hpa, status: acted.status })).to.deep.equal(hpa);
    for (const one of [web, hpa]) expect(withoutElsewhere(one)).to.equal(one);
  });
});
