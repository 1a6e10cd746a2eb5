import { expect } from 'chai';
import { DEFAULT_HPA_CONFIG } from '#lib/hpa/decision/decision-input.ts';
import { isWithin, tolerancesOf } from '#lib/hpa/proposals/tolerance.ts';

describe('tolerancesOf', () => {
  const behavior = { scaleUp: { tolerance: '50m' }, scaleDown: {} };

  it("is the controller's unless the feature is on", () => {
    expect(tolerancesOf(behavior, DEFAULT_HPA_CONFIG)).to.deep.equal({ scaleDown: 0.1, scaleUp: 0.1 });
  });

  it("is the HPA's own for each direction that has one", () => {
    const config = { ...DEFAULT_HPA_CONFIG, configurableTolerance: true };
    expect(tolerancesOf(behavior, config)).to.deep.equal({ scaleDown: 0.1, scaleUp: 0.05 });
    expect(tolerancesOf(undefined, config)).to.deep.equal({ scaleDown: 0.1, scaleUp: 0.1 });
    const rules = (tolerance: string) => tolerancesOf({ scaleUp: { tolerance } }, config).scaleUp;
    expect(rules('2')).to.equal(2);
    expect(rules('0')).to.equal(0);
    expect(rules('0.25')).to.equal(0.25);
    expect(rules('35m')).to.equal(35 * 0.001); // which is not 0.035
  });
});

describe('isWithin', () => {
  it('takes the bounds in, and no number that is none', () => {
    const tolerances = { scaleDown: 0.5, scaleUp: 0.25 };
    for (const ratio of [0.5, 1, 1.25]) expect(isWithin(ratio, tolerances), `${ratio}`).to.equal(true);
    for (const ratio of [0.499, 1.251, Number.NaN]) expect(isWithin(ratio, tolerances)).to.equal(false);
  });
});
