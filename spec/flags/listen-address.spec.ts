import { expect } from 'chai';
import { parseListenAddress } from '#lib/flags/listen-address.ts';

describe('parseListenAddress', () => {
  it('parses addresses that Go listens on', () => {
    expect(parseListenAddress(':7979')).to.deep.equal({ host: undefined, port: 7979 });
    expect(parseListenAddress('127.0.0.1:0')).to.deep.equal({ host: '127.0.0.1', port: 0 });
    expect(parseListenAddress('localhost:80')).to.deep.equal({ host: 'localhost', port: 80 });
    expect(parseListenAddress('[::1]:80')).to.deep.equal({ host: '::1', port: 80 });
  });

  it('rejects other texts', () => {
    for (const text of ['', '7979', ':', ':x', ':65536', ':-1', '::1:80', 'a b:1', 'http://a:1', 'a:1\n'])
      expect(parseListenAddress(text), text).to.equal(undefined);
  });
});
