import { expect } from 'chai';
import { selectControllers } from '#lib/autoscaler/subsystems.ts';

describe('selectControllers', () => {
  for (const [list, names] of [
    [['*'], ['cronhpa', 'scaledobjects']],
    [['cronhpa'], ['cronhpa']],
    [['*', '-cronhpa'], ['scaledobjects']],
    [['-cronhpa', '*'], ['scaledobjects']],
    [['*', '-scaledobjects'], ['cronhpa']],
    [
      ['*', 'hpa'],
      ['cronhpa', 'hpa', 'scaledobjects'],
    ],
    [['-cronhpa', 'cronhpa'], []],
    [['cronhpa', '-cronhpa'], ['cronhpa']],
    [[], []],
  ] as const) {
    it(`takes ${JSON.stringify(list)}`, () => {
      expect([...(selectControllers(list) as ReadonlySet<string>)]).to.deep.equal(names);
    });
  }

  it('rejects unknown names', () => {
    expect(selectControllers(['*', 'cron'])).to.match(/^"cron" must be \* or one of cronhpa/);
  });
});
