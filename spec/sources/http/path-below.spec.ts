import { expect } from 'chai';
import { pathBelow } from '#lib/sources/http/path-below.ts';

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
