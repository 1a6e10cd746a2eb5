import { expect } from 'chai';
import { modifiersOf } from '#lib/scaled-objects/preparation/scaling-modifiers.ts';

const TRIGGERS = [
  { type: 'cron', name: 'a', metadata: {} },
  { type: 'cpu', metadata: {} },
  { type: 'memory', name: 'm', metadata: {} },
];
const GIVEN = { formula: 'a * 2', target: '2.5' };

describe('modifiersOf', () => {
  it('reads the formula, and what its value is set against', () => {
    const read = modifiers(GIVEN);
    expect(read).to.deep.include({ target: 2.5, activationTarget: 0, metricType: 'AverageValue' });
    expect(read?.formula.evaluate({ a: 4 })).to.equal(8);
    const more = { ...GIVEN, target: ' 1e3 ', activationTarget: '-1.5', metricType: 'Value' };
    expect(modifiers(more)).to.deep.include({ target: 1000, activationTarget: -1.5, metricType: 'Value' });
  });

  it('is undefined without settings', () => {
    for (const none of [undefined, {}, { formula: '', target: '' }, { formula: '', target: undefined }])
      expect(modifiers(none)).to.equal(undefined);
  });

  it('cannot use triggers that the HPA controller reads, and does not require names for them', () => {
    expect(() => modifiers({ ...GIVEN, formula: 'a + m' })).to.throw('unknown name m');
    expect(() => modifiers(GIVEN, [...TRIGGERS, { type: 'kafka', metadata: {} }])).to.throw(
      "trigger of type kafka has no name but it's required for a formula",
    );
  });

  for (const [changes, message] of [
    [{ formula: '' }, 'error ScalingModifiers.Formula is mandatory'],
    [{ target: '' }, 'formula is given but target is empty'],
    ...['0', '-1', 'many', ' ', 'Infinity', 'NaN'].map(
      (target) =>
        [
          { target },
          `error converting target for scalingModifiers (string->float) to valid target: ${target}`,
        ] as const,
    ),
    ...['many', ' ', 'Infinity'].map(
      (activationTarget) =>
        [
          { activationTarget },
          `error converting activationTarget for scalingModifiers to a number: ${activationTarget}`,
        ] as const,
    ),
    [
      { metricType: 'Utilization' },
      'error trigger type is Utilization, but it needs to be AverageValue or Value for external metrics',
    ],
    [{ formula: 'a +' }, /^error trying to compile custom formula: /],
    [{ formula: 'a > 1' }, 'error trying to run custom formula: the result is a boolean, not a number'],
  ] as const)
    it(`rejects ${JSON.stringify(changes)}`, () => {
      expect(() => modifiers({ ...GIVEN, ...changes })).to.throw(message);
    });
});

function modifiers(given: object | undefined, triggers: readonly object[] = TRIGGERS) {
  const advanced = given && { scalingModifiers: given };
  return modifiersOf({ metadata: { name: 'web' }, spec: { triggers, advanced } } as never);
}
