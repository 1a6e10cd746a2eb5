import { expect } from 'chai';
import fc from 'fast-check';
import { type HpaChange, hpaChange, hpaPatch, restoredBounds } from '#lib/cron-hpa/hpa-bounds.ts';
import type { Hpa } from '#lib/cron-hpa/target-conflicts.ts';
import { hpa } from '#spec/support/cron-hpas.ts';

const CHANGED_MAX = 'autoscaling.stke.com/cron-hpa-raised-max-replicas';
const CHANGED_MIN = 'autoscaling.stke.com/cron-hpa-min-replicas';
const FREE = { setsMax: false };
const PINNED = { setsMax: true };

describe('hpaChange', () => {
  it('sets minReplicas, records the previous value, and leaves a sufficient maxReplicas unchanged', () => {
    expect(hpaChange(hpa(), 4, FREE)).to.deep.equal({
      ...{ minReplicas: 4, maxReplicas: 5, annotations: { [CHANGED_MIN]: '2>4' } },
    });
  });

  it('returns undefined when nothing changes', () => {
    expect(hpaChange(hpa(), 2, FREE)).to.equal(undefined);
    const held = changed(hpa(), 4, PINNED);
    expect(hpaChange(held, 4, PINNED)).to.equal(undefined);
  });

  it('removes its annotations when the bounds were changed by another client', () => {
    const edited = hpa({ annotations: { [CHANGED_MAX]: '3>9', [CHANGED_MIN]: '1>7' } });
    expect(hpaChange(edited, 2, FREE)).to.deep.equal({
      ...{ minReplicas: 2, maxReplicas: 5, annotations: { [CHANGED_MAX]: null, [CHANGED_MIN]: null } },
    });
  });

  it('raises maxReplicas, records the previous value, and restores it with the next job that goes below', () => {
    const raised = changed(hpa(), 8);
    expect(raised).to.deep.include({ minReplicas: 8, maxReplicas: 8 });
    expect(raised.annotations).to.deep.equal({ [CHANGED_MIN]: '2>8', [CHANGED_MAX]: '5>8' });
    const higher = changed(raised, 9);
    expect(higher).to.deep.include({ minReplicas: 9, maxReplicas: 9 });
    expect(higher.annotations).to.deep.equal({ [CHANGED_MIN]: '2>9', [CHANGED_MAX]: '5>9' });
    const lower = changed(higher, 7);
    expect(lower.annotations).to.deep.equal({ [CHANGED_MIN]: '2>7', [CHANGED_MAX]: '5>7' });
    const least = changed(lower, 3);
    expect(least).to.deep.include({ minReplicas: 3, maxReplicas: 5, annotations: { [CHANGED_MIN]: '2>3' } });
    expect(changed(least, 2)).to.deep.include({ minReplicas: 2, maxReplicas: 5, annotations: {} });
  });

  it('takes bounds that another client has set for the usual ones', () => {
    const edited = { ...changed(hpa(), 8), minReplicas: 4, maxReplicas: 20 };
    const after = changed(edited, 3);
    expect(after).to.deep.include({ minReplicas: 3, maxReplicas: 20, annotations: { [CHANGED_MIN]: '4>3' } });
  });

  it('sets both bounds to a size that is held, and frees them with the next size that is not', () => {
    const held = changed(hpa(), 3, PINNED);
    expect(held).to.deep.include({ minReplicas: 3, maxReplicas: 3 });
    expect(held.annotations).to.deep.equal({ [CHANGED_MIN]: '2>3', [CHANGED_MAX]: '5>3' });
    expect(changed(held, 7, PINNED)).to.deep.include({ minReplicas: 7, maxReplicas: 7 });
    expect(changed(held, 4, FREE)).to.deep.include({ minReplicas: 4, maxReplicas: 5 });
  });
});

describe('restoredBounds', () => {
  it('returns undefined for an HPA that no job has changed', () => {
    expect(restoredBounds(hpa())).to.equal(undefined);
  });

  it('leaves bounds that another client has set since', () => {
    const edited = { ...changed(hpa(), 8), minReplicas: 4 };
    expect(restored(edited)).to.deep.include({ minReplicas: 4, maxReplicas: 5, annotations: {} });
    expect(restored({ ...changed(hpa(), 8), maxReplicas: 9 })).to.deep.include({
      ...{ minReplicas: 2, maxReplicas: 9, annotations: {} },
    });
  });

  it('restores a bound up to one that another client has set', () => {
    const usual = hpa({ minReplicas: 4 });
    expect(restored({ ...changed(usual, 1), maxReplicas: 3 })).to.include({ minReplicas: 3, maxReplicas: 3 });
    expect(restored({ ...changed(usual, 9), minReplicas: 7 })).to.include({ minReplicas: 7, maxReplicas: 7 });
  });

  it('restores the original bounds after any sizes, whether they were held or not', () => {
    const size = fc.tuple(fc.integer({ min: 1, max: 50 }), fc.boolean());
    const bounds = fc.tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 50 }));
    fc.assert(
      fc.property(fc.array(size), bounds, (sizes, [minReplicas, above]) => {
        const usual = { minReplicas, maxReplicas: Math.max(minReplicas + above, 1) };
        let now = hpa(usual);
        for (const [size, setsMax] of sizes) {
          now = changed(now, size, { setsMax });
          expect(now.minReplicas).to.equal(size);
          expect(now.maxReplicas).to.equal(setsMax ? size : Math.max(usual.maxReplicas, size));
        }
        expect(restored(now)).to.deep.include({ ...usual, annotations: {} });
      }),
    );
  });
});

/** The HPA after a job. */
function changed(before: Hpa, size: number, options = FREE): Hpa {
  return patched(before, hpaChange(before, size, options));
}

function restored(before: Hpa): Hpa {
  return patched(before, restoredBounds(before));
}

function patched(before: Hpa, change: HpaChange | undefined): Hpa {
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
