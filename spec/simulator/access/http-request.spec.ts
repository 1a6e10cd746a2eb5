import { expect } from 'chai';
import { splitUrl } from '#simulator/access/http-request.ts';

describe('splitUrl', () => {
  it('splits path and query', () => {
    const { path, query } = splitUrl('/api/v1/nodes?labelSelector=a%3Db&fieldSelector=c?d');
    expect(path).to.equal('/api/v1/nodes');
    expect([...query]).to.deep.equal([
      ['labelSelector', 'a=b'],
      ['fieldSelector', 'c?d'],
    ]);
  });

  it('accepts an invalid URL', () => {
    for (const url of ['', '//', '/%zz', '?', '*']) expect(() => splitUrl(url), url).not.to.throw();
    expect(splitUrl('').path).to.equal('/');
  });
});
