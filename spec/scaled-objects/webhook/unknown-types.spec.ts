import { expect } from 'chai';
import { TriggerTypes } from '#lib/scaled-objects/triggers/trigger-registry.ts';
import { unknownTypes } from '#lib/scaled-objects/webhook/unknown-types.ts';

/** As many as the bound of a review's values lets through. */
const MANY = 24_900;

describe('unknownTypes', () => {
  it('tells each type that there is not, once', () => {
    const { warnings } = look(['kafka', 'cron', 'pulsar', 'kafka']);
    expect(warnings).to.deep.equal([
      'no scaler found for type: kafka; there are cron',
      'no scaler found for type: pulsar; there are cron',
    ]);
  });

  it('looks once for one type of as many triggers as there can be', () => {
    const { warnings, looks } = look(Array<string>(MANY).fill('kafka'));
    expect(warnings).to.have.length(1);
    expect(looks).to.equal(1);
  });

  it('looks no further than it tells', () => {
    const { warnings, looks } = look(Array.from({ length: MANY }, (_, at) => `type-${at}`));
    expect(warnings).to.have.length(10);
    expect(looks).to.equal(10);
  });

  it('finds the one that there is not behind all that there are', () => {
    expect(look([...Array<string>(MANY).fill('cron'), 'kafka']).warnings).to.have.length(1);
  });
});

function look(names: readonly string[]) {
  const known = new TriggerTypes([{ types: ['cron'] } as never]);
  let looks = 0;
  const types: Pick<TriggerTypes, 'get'> = {
    get(type) {
      looks++;
      return known.get(type);
    },
  };
  const warnings = unknownTypes(
    names.map((type) => ({ type, metadata: {} })),
    types,
  );
  return { warnings, looks };
}
