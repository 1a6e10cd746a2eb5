import { expect } from 'chai';
import { openPaths } from '#lib/apiserver/authorization/open-paths.ts';
import { ANONYMOUS } from '#lib/apiserver/http/user.ts';

describe('openPaths', () => {
  const asked: string[] = [];
  const authorizer = openPaths(['/ui', '/ui/page.js'], async ({ info }) => {
    asked.push(info.path);
    return { isAllowed: false };
  });
  const isAllowed = async (path: string, verb = 'get') =>
    (await authorizer({ user: ANONYMOUS, info: { isResourceRequest: false, path, verb } })).isAllowed;

  it('lets everybody get and head these paths, without asking', async () => {
    expect(await isAllowed('/ui')).to.equal(true);
    expect(await isAllowed('/ui/page.js', 'head')).to.equal(true);
    expect(asked).to.deep.equal([]);
  });

  it('asks about other verbs, and about paths below and beside', async () => {
    expect(await isAllowed('/ui', 'post')).to.equal(false);
    for (const path of ['/ui/', '/ui/other.js', '/uid', '/debug/nodes']) {
      expect(await isAllowed(path), path).to.equal(false);
    }
    expect(asked).to.deep.equal(['/ui', '/ui/', '/ui/other.js', '/uid', '/debug/nodes']);
  });
});
