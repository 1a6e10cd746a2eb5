import { expect } from 'chai';
import { autoMinSettings } from '#lib/hpa/auto-min/auto-min-settings.ts';

const of = (annotations: Readonly<Record<string, string>>) =>
  autoMinSettings(
    Object.fromEntries(
      Object.entries(annotations).map(([name, value]) => [
        `autoscaling.stke.com/auto-min-replicas${name}`,
        value,
      ]),
    ),
    'recommend',
  );

describe('autoMinSettings', () => {
  it('takes what the flag says where an HPA says nothing', () => {
    expect(of({})).to.deep.equal({ mode: 'recommend', lowest: 1, highest: undefined });
  });

  it('takes the mode and the bounds of an HPA', () => {
    expect(of({ '': 'apply', '-lowest': '3', '-highest': '30' })).to.deep.equal({
      ...{ mode: 'apply', lowest: 3, highest: 30 },
    });
    expect(of({ '': 'never' })).to.deep.include({ mode: 'never' });
  });

  for (const [annotations, problem] of [
    [{ '': 'always' }, 'auto-min-replicas "always" must be one of recommend, apply, never'],
    [{ '-lowest': '0' }, 'auto-min-replicas-lowest "0" must be a whole number from 1 to 2147483647'],
    [{ '-highest': '1e3' }, 'auto-min-replicas-highest "1e3" must be a whole number'],
    [{ '-highest': '9999999999' }, 'must be a whole number'],
    [{ '-lowest': '4', '-highest': '3' }, '"3" must not be below'],
  ] as const) {
    it(`leaves an HPA alone that says ${JSON.stringify(annotations)}`, () => {
      const { mode, problem: told } = of(annotations);
      expect(mode).to.equal('never');
      expect(told).to.include(problem);
    });
  }

  it('quotes no more of a value than a line holds', () => {
    expect(of({ '': 'x'.repeat(100_000) }).problem).to.have.length.below(250);
  });
});
