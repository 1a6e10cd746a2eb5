import { expect } from 'chai';
import { hpaOf, readHpa } from '#lib/cron-hpa/objects/read-hpa.ts';
import { rivalOf } from '#lib/cron-hpa/objects/same-target.ts';
import { cronHpa, hpa } from '#spec/support/cron-hpas.ts';

const OLD_REFERENCE = { apiVersion: 'extensions/v1beta1', kind: 'Deployment', name: 'web' };

describe('rivalOf', () => {
  const object = cronHpa({ name: 'a' });

  it('finds who scales the same target by another version of its kind', () => {
    const rival = cronHpa({ name: 'b', spec: { scaleTargetRef: OLD_REFERENCE } });
    expect(rivalOf(object, [object, rival])?.name).to.equal('b');
    expect(rivalOf(rival, [object, rival])?.name).to.equal('a');
  });

  it('names the first of several, in whatever order they come', () => {
    const others = ['c', 'b', 'd'].map((name) => cronHpa({ name }));
    expect(rivalOf(object, others)?.name).to.equal('b');
    expect(rivalOf(object, others.toReversed())?.name).to.equal('b');
  });

  it('takes nobody of another namespace, of another target, or who is going', () => {
    const others = [
      cronHpa({ name: 'b', namespace: 'other' }),
      cronHpa({ name: 'c', spec: { scaleTargetRef: { ...OLD_REFERENCE, kind: 'StatefulSet' } } }),
      cronHpa({ name: 'd', isBeingDeleted: true }),
    ];
    expect(rivalOf(object, [object, ...others])).to.equal(undefined);
  });
});

describe('hpaOf', () => {
  it('finds the HPA of the same target, or the one that is named', () => {
    const object = cronHpa({ spec: { scaleTargetRef: OLD_REFERENCE } });
    const others = [
      hpa({ namespace: 'other' }),
      hpa({ scaleTargetRef: { ...OLD_REFERENCE, name: 'other' } }),
    ];
    expect(hpaOf(object, others)).to.equal(undefined);
    expect(hpaOf(object, [...others, hpa({ name: 'x' })])?.name).to.equal('x');
    const scaleTargetRef = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', name: 'x' };
    expect(hpaOf(cronHpa({ spec: { scaleTargetRef } }), [...others, hpa({ name: 'x' })])?.name).to.equal('x');
  });
});

describe('readHpa', () => {
  it('takes an HPA of any version, with the defaults of the API', () => {
    const metadata = { namespace: 'default', name: 'web', resourceVersion: '7' };
    const { scaleTargetRef } = hpa();
    const ownerReferences = [{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', name: 'web', uid: 'u' }];
    const spec = { scaleTargetRef, maxReplicas: 5 };
    expect(readHpa({ metadata, spec })).to.deep.equal({ ...hpa({ minReplicas: 1 }), controller: undefined });
    expect(readHpa({ metadata: { ...metadata, ownerReferences }, spec })?.controller).to.deep.include({
      ...{ kind: 'ScaledObject', name: 'web' },
    });
    expect(readHpa({ metadata })).to.equal(undefined);
  });
});
