import { expect } from 'chai';
import fc from 'fast-check';
import { type HpaChange, hpaChange, hpaPatch } from '#lib/cron-hpa/scale/hpa-change.ts';
import type { Hpa } from '#lib/cron-hpa/target-conflicts.ts';
import { hpa } from '#spec/support/cron-hpas.ts';

const RAISED_MAX = 'autoscaling.stke.com/cron-hpa-raised-max-replicas';

describe('hpaChange', () => {
  it('moves minReplicas and leaves maxReplicas where they suffice', () => {
    expect(hpaChange(hpa(), 4)).to.deep.equal({ minReplicas: 4, maxReplicas: 5, raisedMax: undefined });
  });

  it('is none where nothing changes', () => expect(hpaChange(hpa(), 2)).to.equal(undefined));

  it('takes away what it remembers of maxReplicas that somebody has changed since', () => {
    const edited = hpa({ annotations: { [RAISED_MAX]: '3>9' } });
    expect(hpaChange(edited, 2)).to.deep.equal({ minReplicas: 2, maxReplicas: 5, raisedMax: null });
  });

  it('raises maxReplicas, remembers them, and puts them back with the next job that goes below', () => {
    const raised = changed(hpa(), 8);
    expect(raised).to.deep.include({ minReplicas: 8, maxReplicas: 8, annotations: { [RAISED_MAX]: '5>8' } });
    const higher = changed(raised, 9);
    expect(higher).to.deep.include({ minReplicas: 9, maxReplicas: 9, annotations: { [RAISED_MAX]: '5>9' } });
    const lower = changed(higher, 7);
    expect(lower).to.deep.include({ minReplicas: 7, maxReplicas: 7, annotations: { [RAISED_MAX]: '5>7' } });
    expect(changed(lower, 3)).to.deep.include({ minReplicas: 3, maxReplicas: 5, annotations: {} });
  });

  it('keeps what somebody else has made of maxReplicas since', () => {
    const edited = { ...changed(hpa(), 8), maxReplicas: 20 };
    expect(changed(edited, 3)).to.deep.include({ minReplicas: 3, maxReplicas: 20, annotations: {} });
  });

  it('ends with the usual maxReplicas whatever sizes came before, and never has fewer than minReplicas', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 50 })),
        fc.integer({ min: 1, max: 50 }),
        (sizes, usualMax) => {
          let now = hpa({ minReplicas: 1, maxReplicas: usualMax });
          for (const size of sizes) {
            now = changed(now, size);
            expect(now.minReplicas).to.equal(size);
            expect(now.maxReplicas).to.equal(Math.max(usualMax, size));
          }
          expect(changed(now, 1)).to.deep.include({ maxReplicas: usualMax, annotations: {} });
        },
      ),
    );
  });
});

/** The HPA after the patch. */
function changed(before: Hpa, size: number): Hpa {
  const change: HpaChange | undefined = hpaChange(before, size);
  if (!change) return before;
  const { metadata, spec } = hpaPatch(before, change) as {
    metadata: { annotations?: Record<string, string | null> };
    spec: object;
  };
  const annotations = Object.fromEntries(
    Object.entries({ ...before.annotations, ...metadata.annotations }).filter(
      (entry): entry is [string, string] => entry[1] !== null,
    ),
  );
  return { ...before, ...spec, annotations };
}
