import { expect } from 'chai';
import { paged } from '#lib/ui/object-list.ts';
import { readPageQuery } from '#lib/ui/page-query.ts';

const PAGE_SIZE = 100;

const page = (text: string) => readPageQuery(new URLSearchParams(text), []);

describe('paged', () => {
  const all = Array.from({ length: 2 * PAGE_SIZE + 1 }, (_, index) => index);

  it('returns one page with links to its neighbors', () => {
    const second = paged(all, page('view=hpas&filter=a&page=2'));
    expect([second.items.at(0), second.items.at(-1)]).to.deep.equal([PAGE_SIZE, 2 * PAGE_SIZE - 1]);
    expect(`${second.links}`)
      .to.include('href="?view=hpas&amp;filter=a"')
      .and.to.include('href="?view=hpas&amp;filter=a&amp;page=3"')
      .and.to.include(`${PAGE_SIZE + 1} to ${2 * PAGE_SIZE} of ${all.length}`);
  });

  it('returns the last page for a number beyond it', () => {
    const last = paged(all, page('page=999999'));
    expect(last.items).to.deep.equal([2 * PAGE_SIZE]);
    expect(`${last.links}`).not.to.include('page=4');
  });

  it('has no links if there is only one page', () => {
    expect(`${paged(all.slice(0, PAGE_SIZE), page('')).links}`).to.equal('');
    expect(paged([], page('page=3')).items).to.deep.equal([]);
  });
});
