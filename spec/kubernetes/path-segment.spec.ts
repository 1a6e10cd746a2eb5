import { expect } from 'chai';
import { isPathSegment, pathSegment } from '#lib/kubernetes/path-segment.ts';
import { filesWith } from '#spec/support/source-file.ts';

describe('pathSegment', () => {
  it('escapes every character that could end the segment or change the path', () => {
    for (const text of ['a/b', 'a%2fb', '%2e%2e', '../../x', 'a?b#c', '...', '\ud800', 'a\\..\\b', ' ']) {
      const url = new URL(`http://a/base/${pathSegment(text)}/end`);
      expect(url.pathname.split('/'), text).to.have.lengthOf(4);
      expect(url.pathname.startsWith('/base/') && url.pathname.endsWith('/end'), text).to.equal(true);
      expect([url.search, url.hash]).to.deep.equal(['', '']);
      expect(decodeURIComponent(url.pathname.split('/')[2] ?? '')).to.equal(text.toWellFormed());
    }
  });

  it('refuses texts that are no segment even if escaped', () => {
    for (const text of ['', '.', '..']) {
      expect(isPathSegment(text)).to.equal(false);
      expect(() => pathSegment(text)).to.throw(
        `Cannot build path: ${JSON.stringify(text)} is not a path segment`,
      );
    }
  });

  it('is the only function in lib/ that escapes texts in paths', () => {
    const others = {
      'lib/apiserver/middleware/read-request.ts': 'restores the escapes of a request',
      'lib/metrics-adapter/doctor/served-values.ts': 'escapes a selector in a query',
      'lib/scaled-objects/triggers/rabbitmq.ts': 'names a metric',
      'lib/sources/secrets.ts': 'finds escaped secrets',
    };
    expect(filesWith('lib', /\bencodeURI(Component)?\b/)).to.deep.equal(
      [...Object.keys(others), 'lib/kubernetes/path-segment.ts'].sort(),
    );
  });
});
