import { expect } from 'chai';
import {
  boolean,
  duration,
  float,
  hostAndPort,
  integer,
  keyValues,
} from '#lib/scaled-objects/triggers/parameters/parameter.ts';

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
    it(`rejects ${JSON.stringify(text)}`, () => {
      expect(integer.safeParse(text).error?.issues[0]?.message).to.equal('not a whole number');
    });
  }
});

describe('float', () => {
  for (const [text, value] of [
    ['5', 5],
    ['-.5', -0.5],
    ['.25', 0.25],
    ['5.', 5],
    ['+1.5e-3', 0.0015],
  ] as const) {
    it(`reads ${JSON.stringify(text)}`, () => expect(float.parse(text)).to.equal(value));
  }

  for (const text of ['', '.', 'e3', '0x5', 'NaN', 'Infinity']) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      expect(float.safeParse(text).error?.issues[0]?.message).to.equal('not a number');
    });
  }
});

describe('duration', () => {
  for (const [text, ms] of [
    ['1500', 1500],
    [' 0 ', 0],
    ['1m30s', 90_000],
    ['250ms', 250],
  ] as const) {
    it(`reads ${JSON.stringify(text)}`, () => expect(duration.parse(text)).to.equal(ms));
  }

  for (const text of ['', '-1', '-5s', '1.5', 'soon', '1234567890123456']) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      expect(duration.safeParse(text).error?.issues[0]?.message).to.equal('not a duration of 0 or more');
    });
  }
});

describe('boolean', () => {
  it('parses what Go parses, and rejects the rest', () => {
    expect(['true', ' T ', '1'].map((text) => boolean.parse(text))).to.deep.equal([true, true, true]);
    expect(['false', 'F', '0'].map((text) => boolean.parse(text))).to.deep.equal([false, false, false]);
    for (const text of ['', 'yes', 'tRUE'])
      expect(boolean.safeParse(text).error?.issues[0]?.message).to.equal('neither true nor false');
  });
});

describe('keyValues', () => {
  it('reads pairs whose values may contain separators', () => {
    expect(keyValues.parse('a=1, b = x=y ,c=')).to.deep.equal({ a: '1', b: 'x=y', c: '' });
  });

  for (const text of ['', 'a', '=1', 'a=1,', 'a=1,b']) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      expect(keyValues.safeParse(text).error?.issues[0]?.message).to.equal('not a list of key=value');
    });
  }
});

describe('hostAndPort', () => {
  for (const [text, host, port] of [
    ['redis:1', 'redis', 1],
    ['10.0.0.7:65535', '10.0.0.7', 65_535],
    [' [fd00::7]:6379 ', 'fd00::7', 6379],
  ] as const) {
    it(`takes ${text} apart`, () => {
      expect(hostAndPort('address', text)).to.deep.equal({ host, port });
    });
  }

  for (const text of [
    '',
    'redis',
    ':6379',
    'redis:',
    'redis:0',
    'redis:65536',
    'redis:1e3',
    'a b:1',
    'a,b:1',
    'a/b:1',
    'u@h:1',
  ]) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      expect(() => hostAndPort('address', text)).to.throw(
        `parameter "address" value "${text}" must be host:port`,
      );
    });
  }
});
