import { expect } from 'chai';
import { parseQuery } from '#lib/apiserver/http/query-values.ts';
import { parseListOptions } from '#lib/apiserver/resources/list-options.ts';
import { wantedBy } from '#lib/apiserver/resources/wanted-objects.ts';
import { Thing } from '#spec/support/served-things.ts';

describe('wantedBy', () => {
  const web = { app: 'web' };
  const things = [
    new Thing('a', { namespace: 'n', labels: web }),
    new Thing('b', { namespace: 'n', labels: web }),
    new Thing('c', { namespace: 'n', labels: { app: 'db' } }),
    new Thing('d', { labels: web }),
  ];
  const wanted = (query: string) => {
    const isWanted = wantedBy(parseListOptions(parseQuery(query)));
    return isWanted && things.filter(isWanted).map(({ name }) => name);
  };

  it('wants everything where nothing is said', () => {
    expect(wanted('limit=5')).to.equal(undefined);
    expect(wanted('labelSelector=&fieldSelector=')).to.equal(undefined);
  });

  it('wants what both selectors match', () => {
    expect(wanted('labelSelector=app%3Dweb')).to.deep.equal(['a', 'b', 'd']);
    expect(wanted('fieldSelector=metadata.name!%3Da')).to.deep.equal(['b', 'c', 'd']);
    expect(wanted('fieldSelector=metadata.namespace%3D')).to.deep.equal(['d']);
    expect(wanted('labelSelector=app%3Dweb&fieldSelector=metadata.namespace%3Dn')).to.deep.equal(['a', 'b']);
  });

  it('remembers no response for other labels', () => {
    expect(wanted('labelSelector=app+in+(db)')).to.deep.equal(['c']);
  });
});
