import { expect } from 'chai';
import type { RequestOptions } from '#lib/kubernetes/client/api-client.ts';
import { MalformedResponse, TooLongResponse } from '#lib/kubernetes/client/api-error.ts';
import { listCollection } from '#lib/kubernetes/client/list-watch.ts';

const PODS = { path: '/api/v1/pods', labelSelector: 'app=web' };

describe('listCollection', () => {
  it('lists all pages, and returns the version of the last', async () => {
    const { list, requested } = setUp(
      page('7', ['a', 'b'], 'second'),
      page('7', ['c'], 'third&x'),
      page('7', ['d'], 'fourth'),
      page('8', ['e'], ''),
    );
    expect(await list()).to.deep.equal({ resourceVersion: '8', visited: ['a', 'b', 'c', 'd', 'e'] });
    expect(requested.map(({ query }) => query)).to.deep.equal([
      { labelSelector: 'app=web', limit: '500' },
      { labelSelector: 'app=web', limit: '500', continue: 'second' },
      { labelSelector: 'app=web', limit: '500', continue: 'third&x' },
      { labelSelector: 'app=web', limit: '500', continue: 'fourth' },
    ]);
    expect(requested[3]?.options).to.include({ accept: 'application/json', timeoutMs: 5 });
  });

  it('reads a null list as empty, as Go encodes it', async () => {
    const { list } = setUp({ items: null, metadata: { resourceVersion: '7' } });
    expect(await list()).to.deep.equal({ resourceVersion: '7', visited: [] });
  });

  it('lists shorter pages where one is too long, and longer ones again behind it', async () => {
    const long = new TooLongResponse('response has more than 16777216 bytes');
    const { list, requested } = setUp(
      long,
      long,
      page('7', ['a'], 'b'),
      page('7', ['b'], 'c'),
      page('7', ['c'], ''),
    );
    expect(await list()).to.deep.equal({ resourceVersion: '7', visited: ['a', 'b', 'c'] });
    expect(requested.map(({ query }) => query)).to.deep.equal([
      { labelSelector: 'app=web', limit: '500' },
      { labelSelector: 'app=web', limit: '62' },
      { labelSelector: 'app=web', limit: '7' },
      { labelSelector: 'app=web', limit: '14', continue: 'b' },
      { labelSelector: 'app=web', limit: '28', continue: 'c' },
    ]);
    expect(requested[0]?.options).to.include({ maxResponseBytes: 16 * 1024 * 1024 });
  });

  it('fails where one object alone is too long', async () => {
    const long = new TooLongResponse('response has more than 16777216 bytes');
    const { list, requested } = setUp(long, long, long, long);
    expect(await list().catch((reason: unknown) => reason)).to.equal(long);
    expect(requested.at(-1)?.query).to.include({ limit: '1' });
  });

  it('refuses other responses than lists', async () => {
    for (const response of [
      {},
      { items: {}, metadata: { resourceVersion: '7' } },
      { items: [] },
      'x',
      null,
    ]) {
      const error = await setUp(response)
        .list()
        .catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(MalformedResponse);
    }
  });
});

function page(resourceVersion: string, names: readonly string[], continueAt: string): object {
  return { metadata: { resourceVersion, continue: continueAt }, items: names.map((name) => ({ name })) };
}

function setUp(...responses: readonly unknown[]) {
  const requested: { readonly query: object; readonly options: RequestOptions | undefined }[] = [];
  const client = {
    getJson: async (path: string, options?: RequestOptions) => {
      const { pathname, searchParams } = new URL(path, 'https://api');
      expect(pathname).to.equal('/api/v1/pods');
      requested.push({ query: Object.fromEntries(searchParams), options });
      const response = responses[requested.length - 1];
      if (response instanceof Error) throw response;
      return response;
    },
  };
  const list = async () => {
    const visited: unknown[] = [];
    const visit = (object: unknown) => void visited.push((object as { readonly name: string }).name);
    const resourceVersion = await listCollection(client, PODS, { visit, timeoutMs: 5 });
    return { resourceVersion, visited };
  };
  return { requested, list };
}
