import { expect } from 'chai';
import { autoMinSettings } from '#lib/hpa/min-replicas/auto-min-settings.ts';

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
  it('returns the flag without annotations', () => {
    expect(of({})).to.deep.equal({ mode: 'recommend', lowest: 1, highest: undefined });
  });

  it('returns mode and bounds of an HPA', () => {
    expect(of({ '': 'apply', '-lowest': '3', '-highest': '30' })).to.deep.equal({
      ...{ mode: 'apply', lowest: 3, highest: 30 },
    });
    expect(of({ '': 'never' })).to.deep.include({ mode: 'never' });
  });

  for (const [annotations, problem] of [
    [{ '': 'always' }, 'auto-min-replicas "always" must be one of recommend, apply, never'],
    [{ '-lowest': '0' }, 'auto-min-replicas-lowest "0" must be an integer from 1 to 2147483647'],
    [{ '-highest': '1e3' }, 'auto-min-replicas-highest "1e3" must be an integer'],
    [{ '-highest': '9999999999' }, 'must be an integer'],
    [{ '-lowest': '4', '-highest': '3' }, '"3" must not be below'],
  ] as const) {
    it(`rejects ${JSON.stringify(annotations)}`, () => {
      const { mode, problem: reported } = of(annotations);
      expect(mode).to.equal('never');
      expect(reported).to.include(problem);
    });
  }

  it('truncates a quoted value', () => {
    expect(of({ '': 'x'.repeat(100_000) }).problem).to.have.length.below(250);
  });

  it('accepts the largest bounds, and equal bounds', () => {
    expect(of({ '-lowest': '2147483647', '-highest': '2147483647' })).to.deep.equal({
      ...{ mode: 'recommend', lowest: 2_147_483_647, highest: 2_147_483_647 },
    });
    for (const value of ['2147483648', '01', '-1', '1.0', ' 1', '1x', ''])
      for (const bound of ['lowest', 'highest'])
        expect(of({ [`-${bound}`]: value }).problem, value).to.equal(
          `annotation autoscaling.stke.com/auto-min-replicas-${bound} ${JSON.stringify(value)} must be an integer from 1 to 2147483647`,
        );
    expect(of({ '-lowest': '4', '-highest': '3' })).to.deep.equal({
      ...{ mode: 'never', lowest: 1, highest: undefined },
      problem:
        'annotation autoscaling.stke.com/auto-min-replicas-highest "3" must not be below autoscaling.stke.com/auto-min-replicas-lowest, which is 4',
    });
  });
});
