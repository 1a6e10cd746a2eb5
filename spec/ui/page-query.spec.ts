import { expect } from 'chai';
import { isListed, objectLink, pageAddress, readPageQuery } from '#lib/ui/page-query.ts';

const read = (text: string) => readPageQuery(new URLSearchParams(text), ['hpas']);

describe('readPageQuery', () => {
  it('parses parameters, and ignores invalid ones', () => {
    expect(read('view=hpas&namespace=a&name=b&filter=c&page=3&refresh=off')).to.deep.equal({
      ...{ view: 'hpas', namespace: 'a', name: 'b', filter: 'c', page: 3, isPaused: true, views: ['hpas'] },
    });
    for (const page of ['', '0', '-1', '1.5', '1e9', 'a', '9'.repeat(30)])
      expect(read(`page=${page}`).page, page).to.equal(1);
    expect(read('refresh=no').isPaused).to.equal(false);
  });
});

describe('pageAddress', () => {
  it('formats addresses that parse to the same query', () => {
    const query = read(`view=hpas&filter=${encodeURIComponent('a&b="<')}&page=2&namespace=x`);
    expect(read(pageAddress(query).slice(1))).to.deep.equal(query);
  });
});

describe('objectLink', () => {
  it('links to existing views, and renders plain text otherwise', () => {
    const object = { namespace: 'a', name: 'b', text: '<a/b>' };
    expect(`${objectLink(read(''), { view: 'hpas', ...object })}`).to.equal(
      '<a href="?view=hpas&amp;namespace=a&amp;name=b">&lt;a/b&gt;</a>',
    );
    expect(`${objectLink(read(''), { view: 'other', ...object })}`).to.equal('&lt;a/b&gt;');
  });
});

describe('isListed', () => {
  it('matches namespace, name and parts of both', () => {
    const listed = (text: string) => isListed(read(text), 'shop', 'web');
    expect(
      ['', 'namespace=shop', 'name=web', 'filter=op/we', 'namespace=shop&filter=w'].map(listed),
    ).not.to.include(false);
    expect(['namespace=sho', 'name=we', 'filter=x', 'namespace=other&filter=w'].map(listed)).not.to.include(
      true,
    );
  });
});
