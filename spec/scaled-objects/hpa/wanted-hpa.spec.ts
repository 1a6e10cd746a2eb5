import { expect } from 'chai';
import { wantedHpa } from '#lib/scaled-objects/hpa/wanted-hpa.ts';
import type { ScaledObject } from '#lib/scaled-objects/objects/scaled-object.ts';

describe('wantedHpa', () => {
  it('refuses an object whose triggers give it no metric, as a scaler without any does', () => {
    const object: ScaledObject = {
      metadata: { name: 'web', namespace: 'shop', uid: 'u' },
      spec: { scaleTargetRef: { name: 'web' }, triggers: [{ type: 'external', metadata: {} }] },
    };
    const trigger = { index: 0, type: 'external', name: undefined, metrics: [], resource: undefined };
    const resource = {
      group: 'apps',
      version: 'v1',
      kind: 'Deployment',
      plural: 'deployments',
      namespaced: true,
    };
    const plan = { uid: 'u', generation: 1, triggers: [trigger], plannedAtMs: 0 };
    const options = { plan: plan as never, resource, modifiers: undefined, version: '1.2.3' };
    expect(() => wantedHpa(object, options)).to.throw(
      'no metric specs returned from scalers for ScaledObject shop/web',
    );
  });
});
