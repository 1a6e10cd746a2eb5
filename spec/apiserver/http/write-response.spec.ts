import { expect } from 'chai';
import { wantsPretty } from '#lib/apiserver/http/write-response.ts';

describe('wantsPretty', () => {
  const cases: readonly [string, string, boolean][] = [
    ['', 'kubectl/v1.34.2', false],
    ['', '', false],
    ['', 'curl/7.88.1', true],
    ['', 'Wget/1.21', true],
    ['', 'Mozilla/5.0 (X11)', true],
    ['pretty=true', 'kubectl/v1.34.2', true],
    ['limit=1&pretty=1', 'kubectl/v1.34.2', true],
    ['pretty=false', 'curl/7.88.1', false],
    ['pretty=yes', 'curl/7.88.1', false],
    ['pretty', 'curl/7.88.1', true],
    ['prettyplease=0', 'curl/7.88.1', true],
  ];
  for (const [query, agent, isWanted] of cases) {
    it(`is ${isWanted} for ?${query} of ${agent || 'an unnamed agent'}`, () => {
      expect(wantsPretty(new URLSearchParams(query), agent)).to.equal(isWanted);
    });
  }
});
