import { expect } from 'chai';
import { hindranceOf } from '#lib/cron-hpa/scale/hindrance.ts';
import { cronHpa, hpa } from '#spec/support/cron-hpas.ts';

const object = cronHpa({ name: 'day' });

describe('hindranceOf', () => {
  it('finds nothing in the way of an object that alone scales its target, be there an HPA or not', () => {
    expect(hindranceOf(object, { hpa: undefined, others: [] })).to.equal(undefined);
    expect(hindranceOf(object, { hpa: undefined, others: [object] })).to.equal(undefined);
    expect(hindranceOf(object, { hpa: hpa(), others: [object] })).to.equal(undefined);
    const controller = { kind: 'Application', name: 'shop' };
    expect(hindranceOf(object, { hpa: hpa({ controller }), others: [] })).to.equal(undefined);
  });

  it('names another object that scales the target, for each of both the other', () => {
    const night = cronHpa({ name: 'night', uid: 'uid-2' });
    for (const [one, other] of [
      [object, night],
      [night, object],
    ] as const)
      expect(hindranceOf(one, { hpa: undefined, others: [object, night] })).to.deep.equal({
        reason: 'TargetConflict',
        message: `CronHorizontalPodAutoscaler "${other.name}" scales Deployment "web", too; neither does until one of both is gone`,
      });
  });

  it('minds no other object that is going, or that has another target', () => {
    const going = cronHpa({ name: 'night', isBeingDeleted: true });
    const spec = { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'api' } };
    const elsewhere = cronHpa({ name: 'night', spec });
    expect(hindranceOf(object, { hpa: undefined, others: [going, elsewhere] })).to.equal(undefined);
  });

  it('names the ScaledObject to which the HPA belongs, once no other object is in the way', () => {
    const owned = hpa({ name: 'keda-web', controller: { kind: 'ScaledObject', name: 'shop' } });
    expect(hindranceOf(object, { hpa: owned, others: [object] })).to.deep.equal({
      reason: 'OwnedByScaledObject',
      message: 'HorizontalPodAutoscaler "keda-web" belongs to ScaledObject "shop", which alone changes it',
    });
    const rival = cronHpa({ name: 'night' });
    expect(hindranceOf(object, { hpa: owned, others: [rival] })?.reason).to.equal('TargetConflict');
  });
});
