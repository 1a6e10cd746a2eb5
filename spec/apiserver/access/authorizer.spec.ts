import { expect } from 'chai';
import { isAlwaysAllowed, openPaths, parsePathRules } from '#lib/apiserver/access/authorizer.ts';
import { ANONYMOUS } from '#lib/apiserver/http/api-context.ts';
import { parseRequestInfo } from '#lib/apiserver/http/request-info.ts';

describe('isAlwaysAllowed', () => {
  const isAllowed = (path: string, rules: readonly string[]) =>
    isAlwaysAllowed(parseRequestInfo('GET', path, new URLSearchParams()), parsePathRules(rules));

  it('matches whole paths, and prefixes with a trailing star', () => {
    expect(isAllowed('/healthz', ['/healthz'])).to.equal(true);
    expect(isAllowed('/healthz/ping', ['/healthz'])).to.equal(false);
    expect(isAllowed('/healthz/ping', ['healthz/*'])).to.equal(true);
    expect(isAllowed('/metrics', ['*'])).to.equal(true);
  });

  it('never opens resources, though a rule leads to where they lie', () => {
    for (const rule of ['*', '/apis/*', '/apis/metrics.k8s.io/v1beta1/pods']) {
      expect(isAllowed('/apis/metrics.k8s.io/v1beta1/pods', [rule]), rule).to.equal(false);
    }
    expect(isAllowed('/apis/metrics.k8s.io/v1beta1', ['/apis/*'])).to.equal(true);
  });
});

describe('parsePathRules', () => {
  it('refuses a star that is not at the end', () => {
    expect(() => parsePathRules(['/a*b'])).to.throw('"*" is allowed only at the end: a*b');
  });
});

describe('openPaths', () => {
  const requested: string[] = [];
  const authorizer = openPaths(['/ui', '/ui/page.js'], async ({ info }) => {
    requested.push(info.path);
    return { isAllowed: false };
  });
  const isAllowed = async (path: string, verb = 'get') =>
    (await authorizer({ user: ANONYMOUS, info: { isResourceRequest: false, path, verb } })).isAllowed;

  it('allows every caller to get and head these paths, without a review', async () => {
    expect(await isAllowed('/ui')).to.equal(true);
    expect(await isAllowed('/ui/page.js', 'head')).to.equal(true);
    expect(requested).to.deep.equal([]);
  });

  it('reviews other verbs, and paths below and beside these', async () => {
    expect(await isAllowed('/ui', 'post')).to.equal(false);
    for (const path of ['/ui/', '/ui/other.js', '/uid', '/debug/nodes']) {
      expect(await isAllowed(path), path).to.equal(false);
    }
    expect(requested).to.deep.equal(['/ui', '/ui/', '/ui/other.js', '/uid', '/debug/nodes']);
  });
});
