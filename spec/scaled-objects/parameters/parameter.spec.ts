import { expect } from 'chai';
import { float, integer } from '#lib/scaled-objects/parameters/parameter.ts';

describe('integer', () => {
  for (const [text, value] of [
    ['5', 5],
    ['+5', 5],
    ['-5', -5],
    [' 5 ', 5],
    ['9007199254740991', 9_007_199_254_740_991],
  ] as const) {
    it(`reads ${JSON.stringify(text)}`, () => expect(integer.parse(text)).to.equal(value));
  }

  for (const text of ['', '5.0', '1e3', '5m', '0x5', '9007199254740992']) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(integer.safeParse(text).error?.issues[0]?.message).to.equal('it is no whole number');
    });
  }
});

describe('float', () => {
  for (const [text, value] of [
    ['5', 5],
    ['-.5', -0.5],
    ['5.', 5],
    ['+1.5e-3', 0.0015],
  ] as const) {
    it(`reads ${JSON.stringify(text)}`, () => expect(float.parse(text)).to.equal(value));
  }

  for (const text of ['', '.', 'e3', '0x5', 'NaN', 'Infinity']) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(float.safeParse(text).error?.issues[0]?.message).to.equal('it is no number');
    });
  }
});
