import { expect } from 'chai';
import { parseSourceUrl, pathBelow } from '#lib/sources/http/source-url.ts';

describe('parseSourceUrl', () => {
  it('moves credentials out of the URL without exposing them', () => {
    const read = parseSourceUrl('http://ann:s%3Aecret@prometheus.example:9090/base?a=b#c');
    if (typeof read === 'string') throw new Error(read);
    expect(read.url.href).to.equal('http://prometheus.example:9090/base?a=b');
    const expected = `Basic ${Buffer.from('ann:s:ecret').toString('base64')}`;
    expect(read.credentials?.current.authorization).to.equal(expected);
    expect(read.credentials?.name).to.match(/^sha256:[0-9a-f]{16}$/);
  });

  it('accepts a user without a password, and a password without a user', () => {
    for (const [url, login] of [
      ['http://ann@a.example', 'ann:'],
      ['http://:secret@a.example', ':secret'],
    ] as const) {
      const read = parseSourceUrl(url);
      if (typeof read === 'string') throw new Error(read);
      expect(read.url.href).to.equal('http://a.example/');
      const expected = `Basic ${Buffer.from(login).toString('base64')}`;
      expect(read.credentials?.current).to.deep.equal({ authorization: expected });
    }
  });

  it('accepts 2048 characters', () => {
    expect(parseSourceUrl(`http://a/${'b'.repeat(2039)}`)).to.have.property('credentials', undefined);
    expect(parseSourceUrl(`http://a/${'b'.repeat(2040)}`)).to.match(/no longer than 2048/);
  });

  it('has no credentials where the URL has none', () => {
    expect(parseSourceUrl('https://a.example')).to.deep.equal({
      url: new URL('https://a.example/'),
      credentials: undefined,
    });
  });

  it('refuses everything but HTTP', () => {
    for (const text of ['', 'prometheus:9090', 'file:///etc/passwd', 'ftp://a', '//a', 'http://'])
      expect(parseSourceUrl(text), text).to.match(/^must be a URL/);
    expect(parseSourceUrl(`http://a/${'b'.repeat(2048)}`)).to.match(/no longer than 2048/);
    expect(parseSourceUrl('http://a:%ff@b')).to.match(/percent-encoded/);
  });
});

describe('pathBelow', () => {
  for (const [url, below] of [
    ['http://a.example', 'http://a.example/api/v1'],
    ['http://a.example/', 'http://a.example/api/v1'],
    ['http://a.example/base', 'http://a.example/base/api/v1'],
    ['http://a.example/base/?query=1', 'http://a.example/base/api/v1'],
  ] as const)
    it(`leads below ${url}, without its query`, () => {
      const given = new URL(url);
      expect(pathBelow(given, '/api/v1').href).to.equal(below);
      expect(given.href).to.equal(new URL(url).href);
    });
});
