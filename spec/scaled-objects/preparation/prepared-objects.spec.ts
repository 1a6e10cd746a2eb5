import { expect } from 'chai';
import type { ScaledObject } from '#lib/scaled-objects/api/scaled-object.ts';
import { PreparedObjects } from '#lib/scaled-objects/preparation/prepared-objects.ts';

describe('PreparedObjects', () => {
  it('compiles an object once for each generation, and again where another has its name', () => {
    const prepared = new PreparedObjects();
    let parsed = 0;
    const object = (uid: string, generation: number, annotations = {}) =>
      ({
        metadata: { namespace: 'default', name: 'web', uid, generation, annotations },
        spec: {
          triggers: [{ type: 'cron', name: 'a', metadata: {} }],
          advanced: {
            get scalingModifiers() {
              parsed++;
              return { formula: `a * ${generation}`, target: '1' };
            },
          },
        },
      }) as unknown as ScaledObject;
    const result = (compiled: ReturnType<PreparedObjects['compiled']>) =>
      compiled.modifiers?.formula.evaluate({ a: 3 });
    const first = prepared.compiled(object('u', 1));
    const count = parsed;
    expect(prepared.compiled(object('u', 1, { 'autoscaling.keda.sh/paused': 'true' }))).to.equal(first);
    expect(parsed).to.equal(count);
    expect([result(first), result(prepared.compiled(object('u', 2)))]).to.deep.equal([3, 6]);
    expect(prepared.compiled(object('v', 2))).to.not.equal(prepared.compiled(object('u', 2)));
    const again = prepared.compiled(object('u', 2));
    prepared.delete('default/web');
    expect(prepared.compiled(object('u', 2))).to.not.equal(again);
  });

  it('has no fallback with a number below zero', () => {
    const fallback = (failureThreshold: number, replicas: number) =>
      new PreparedObjects().compiled({
        metadata: { namespace: 'default', name: 'web' },
        spec: { scaleTargetRef: { name: 'web' }, triggers: [], fallback: { failureThreshold, replicas } },
      }).fallback;
    expect([fallback(-1, 1), fallback(1, -1)]).to.deep.equal([undefined, undefined]);
    expect(fallback(0, 0)).to.deep.equal({ failureThreshold: 0, replicas: 0 });
  });

  it('has the reason why a formula cannot be used', () => {
    const { modifiers, modifiersError } = new PreparedObjects().compiled({
      metadata: { namespace: 'default', name: 'web' },
      spec: {
        scaleTargetRef: { name: 'web' },
        triggers: [{ type: 'cron', name: 'a', metadata: {} }],
        advanced: { scalingModifiers: { formula: 'a *', target: '1' } },
      },
    });
    expect(modifiers).to.equal(undefined);
    expect(modifiersError?.message).to.match(/^error trying to compile custom formula: /);
  });
});
