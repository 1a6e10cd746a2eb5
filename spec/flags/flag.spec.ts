import { expect } from 'chai';
import {
  boolean,
  decimal,
  duration,
  integer,
  ipAddress,
  oneOf,
  repeatedText,
  text,
  texts,
} from '#lib/flags/flag.ts';

describe('FlagKind', () => {
  it('formats values as the help shows them', () => {
    expect(text.format('a "b"')).to.equal('"a \\"b\\""');
    expect(boolean.format(true)).to.equal('true');
    expect(integer.format(443)).to.equal('443');
    expect(decimal.format(0.5)).to.equal('0.5');
    expect(duration.format(90_000)).to.equal('1m30s');
    expect(ipAddress.format('::1')).to.equal('::1');
    expect(texts.format(['a', 'b'])).to.equal('[a,b]');
    expect(repeatedText.format(['a,b', 'c'])).to.equal('[a,b c]');
    expect(oneOf('x', 'y').format('x')).to.equal('"x"');
  });

  it('parses IP addresses of both families, and the empty text', () => {
    for (const address of ['127.0.0.1', '::', 'fd00::1', ''])
      expect(ipAddress.parse(address)).to.equal(address);
    expect(ipAddress.parse(' ::1 ')).to.equal('::1');
    expect(() => ipAddress.parse('localhost')).to.throw('must be an IP address');
  });

  it('parses numbers only if the whole text is one', () => {
    expect(decimal.parse('-1.5e3')).to.equal(-1500);
    expect(decimal.parse('.5')).to.equal(0.5);
    expect(integer.parse('+7')).to.equal(7);
    for (const value of ['', ' 1', '1x', '0x10', 'Infinity', 'NaN']) {
      expect(() => decimal.parse(value), value).to.throw('must be a number');
      expect(() => integer.parse(value), value).to.throw('must be a whole number');
    }
  });

  it('parses one of several words', () => {
    expect(oneOf('text', 'json').parse('json')).to.equal('json');
    expect(() => oneOf('text', 'json').parse('JSON')).to.throw('must be one of text, json');
  });
});
