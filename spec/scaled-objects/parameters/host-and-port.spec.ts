import { expect } from 'chai';
import { hostAndPort } from '#lib/scaled-objects/parameters/host-and-port.ts';

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
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(() => hostAndPort('address', text)).to.throw(
        `parameter "address" value "${text}" must be host:port`,
      );
    });
  }
});
