import { expect } from 'chai';
import { isAlwaysAllowed, parsePathRules } from '#lib/apiserver/authorization/path-rules.ts';
import { parseRequestInfo } from '#lib/apiserver/http/request-info.ts';

describe('isAlwaysAllowed', () => {
  const isAllowed = (path: string, rules: readonly string[]) =>
    isAlwaysAllowed(parseRequestInfo('GET', path, new URLSearchParams()), parsePathRules(rules));

  it('goes by whole paths, and by beginnings where a star follows', () => {
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
    expect(() => parsePathRules(['/a*b'])).to.throw('a star may only stand at the end: a*b');
  });
});
