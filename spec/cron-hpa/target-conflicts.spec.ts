import { expect } from 'chai';
import { findBlocker, findConflict, hpaOf, readHpa, targetKey } from '#lib/cron-hpa/target-conflicts.ts';
import { cronHpa, hpa } from '#spec/support/cron-hpas.ts';

const object = cronHpa({ name: 'day' });

describe('findBlocker', () => {
  it('returns undefined when the object alone scales its target, with or without an HPA', () => {
    expect(findBlocker(object, { hpa: undefined, others: [] })).to.equal(undefined);
    expect(findBlocker(object, { hpa: undefined, others: [object] })).to.equal(undefined);
    expect(findBlocker(object, { hpa: hpa(), others: [object] })).to.equal(undefined);
    const controller = { kind: 'Application', name: 'shop' };
    expect(findBlocker(object, { hpa: hpa({ controller }), others: [] })).to.equal(undefined);
  });

  it('names the other object with the same target, for both objects', () => {
    const night = cronHpa({ name: 'night', uid: 'uid-2' });
    for (const [one, other] of [
      [object, night],
      [night, object],
    ] as const)
      expect(findBlocker(one, { hpa: undefined, others: [object, night] })).to.deep.equal({
        reason: 'TargetConflict',
        message: `CronHorizontalPodAutoscaler "${other.name}" also scales Deployment "web"; neither scales until one of them is deleted`,
      });
  });

  it('ignores an object that is being deleted or that has another target', () => {
    const going = cronHpa({ name: 'night', isBeingDeleted: true });
    const spec = { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'api' } };
    const elsewhere = cronHpa({ name: 'night', spec });
    expect(findBlocker(object, { hpa: undefined, others: [going, elsewhere] })).to.equal(undefined);
  });

  it('names the ScaledObject that manages the HPA when no other object conflicts', () => {
    const owned = hpa({ name: 'keda-web', controller: { kind: 'ScaledObject', name: 'shop' } });
    expect(findBlocker(object, { hpa: owned, others: [object] })).to.deep.equal({
      reason: 'OwnedByScaledObject',
      message: 'HorizontalPodAutoscaler "keda-web" is managed by ScaledObject "shop"',
    });
    const conflicting = cronHpa({ name: 'night' });
    expect(findBlocker(object, { hpa: owned, others: [conflicting] })?.reason).to.equal('TargetConflict');
  });
});

const OLD_REFERENCE = { apiVersion: 'extensions/v1beta1', kind: 'Deployment', name: 'web' };

describe('findConflict', () => {
  const object = cronHpa({ name: 'a' });

  it('finds an object with the same target in another version of its kind', () => {
    const conflicting = cronHpa({ name: 'b', spec: { scaleTargetRef: OLD_REFERENCE } });
    expect(findConflict(object, [object, conflicting])?.name).to.equal('b');
    expect(findConflict(conflicting, [object, conflicting])?.name).to.equal('a');
  });

  it('names the first of several by name', () => {
    const others = ['c', 'b', 'd'].map((name) => cronHpa({ name }));
    expect(findConflict(object, others)?.name).to.equal('b');
    expect(findConflict(object, others.toReversed())?.name).to.equal('b');
  });

  it('ignores objects in other namespaces, with other targets, or that are being deleted', () => {
    const others = [
      cronHpa({ name: 'b', namespace: 'other' }),
      cronHpa({ name: 'c', spec: { scaleTargetRef: { ...OLD_REFERENCE, kind: 'StatefulSet' } } }),
      cronHpa({ name: 'd', isBeingDeleted: true }),
    ];
    expect(findConflict(object, [object, ...others])).to.equal(undefined);
  });
});

describe('targetKey', () => {
  it('is equal for one object in all versions, and differs by namespace, group, kind and name', () => {
    const keyOf = (apiVersion: string, kind = 'Deployment', name = 'web', namespace = 'default') =>
      targetKey(namespace, { apiVersion, kind, name });
    expect(new Set(['apps/v1', 'apps/v1beta2', 'extensions/v1beta1'].map((one) => keyOf(one))).size).to.equal(
      1,
    );
    expect(keyOf('v1')).to.equal(keyOf('')).and.equal('default//Deployment/web');
    const others = [
      keyOf('apps/v1'),
      keyOf('v1'),
      keyOf('argoproj.io/v1'),
      keyOf('apps/v1', 'StatefulSet'),
      keyOf('apps/v1', 'Deployment', 'api'),
      keyOf('apps/v1', 'Deployment', 'web', 'shop'),
    ];
    expect(new Set(others).size).to.equal(others.length);
  });
});

describe('hpaOf', () => {
  it('finds the HPA with the same target, or the one that is the target', () => {
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
  it('decodes an HPA of any version, with the defaults of the API', () => {
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

  it('returns the controller of an HPA, or the ScaledObject that owns it', () => {
    const owner = (kind: string, controller?: boolean) => ({
      ...{ apiVersion: 'apps/v1', kind, name: kind.toLowerCase(), uid: 'u', controller },
    });
    const controllerOf = (...ownerReferences: readonly object[]) => {
      const metadata = { namespace: 'default', name: 'web', resourceVersion: '7', ownerReferences };
      return readHpa({ metadata, spec: { scaleTargetRef: hpa().scaleTargetRef, maxReplicas: 5 } })?.controller
        ?.name;
    };
    expect(controllerOf(owner('Application', true))).to.equal('application');
    expect(controllerOf(owner('Application'), owner('Team', false))).to.equal(undefined);
    expect(controllerOf(owner('Application', false), owner('ScaledObject'))).to.equal('scaledobject');
    expect(controllerOf(owner('Application'), owner('Team', true))).to.equal('team');
  });

  it('retains only the annotation of Cron-HPA', () => {
    const raised = 'autoscaling.stke.com/cron-hpa-raised-max-replicas';
    const annotationsOf = (annotations: object) => {
      const metadata = { namespace: 'default', name: 'web', resourceVersion: '7', annotations };
      return readHpa({ metadata, spec: { scaleTargetRef: hpa().scaleTargetRef, maxReplicas: 5 } })
        ?.annotations;
    };
    expect(annotationsOf({ other: 'x', [raised]: '3>9' })).to.deep.equal({ [raised]: '3>9' });
    expect(annotationsOf({ other: 'x' })).to.deep.equal({});
  });
});
