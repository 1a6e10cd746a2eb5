import { expect } from 'chai';
import type { ApiContext } from '#lib/apiserver/http/api-context.ts';
import type { DocumentQuery } from '#lib/apiserver/resources/api-group.ts';
import { serveDocument } from '#lib/apiserver/resources/serve-document.ts';

describe('serveDocument', () => {
  it('reads the selectors of a URL once for all of its requests, and those of another for themselves', () => {
    const seen: DocumentQuery[] = [];
    const refusal = new Error('nothing is served here');
    const request = (query: URLSearchParams) => {
      const read = (asked: DocumentQuery) => {
        seen.push(asked);
        throw refusal;
      };
      expect(() => serveDocument({ state: { query } } as unknown as ApiContext, { read })).to.throw(refusal);
    };
    const query = new URLSearchParams({ labelSelector: 'app=web' });
    request(query);
    request(query);
    request(new URLSearchParams({ labelSelector: 'app=shop' }));
    const [first, again, other] = seen;
    expect(again?.labelSelector).to.equal(first?.labelSelector);
    expect(first?.labelSelector.matches({ app: 'web' })).to.equal(true);
    expect(other?.labelSelector.matches({ app: 'shop' })).to.equal(true);
    expect(other?.labelSelector.matches({ app: 'web' })).to.equal(false);
  });
});
