import { expect } from 'chai';
import { RequestHeaders } from '#lib/apiserver/access/front-proxy.ts';

const headers = new RequestHeaders([
  ...['X-Remote-User', ''],
  ...['x-remote-user', 'alice'],
  ...['X-REMOTE-GROUP', 'a, b'],
  ...['X-Remote-Group', ''],
  ...['X-Remote-Group', 'c'],
  ...['X-Other-Group', 'd'],
  ...['X-Remote-Extra-Scopes', 'x'],
  ...['X-Remote-Extra-scopes', 'y'],
  ...['X-Remote-Extra-', 'nameless'],
  ...['X-Name', Buffer.from('zoë').toString('latin1')],
]);

describe('RequestHeaders', () => {
  it('returns the first value of a header, and that of the next header only if it is empty', () => {
    expect(headers.first(['X-Absent', 'X-OTHER-GROUP', 'X-Remote-Group'])).to.equal('d');
    expect(headers.first(['X-Absent'])).to.equal(undefined);
    expect(headers.first([])).to.equal(undefined);
    expect(headers.first(['X-Remote-User', 'X-Other-Group'])).to.equal('d');
  });

  it('returns every value of every header, without splitting at commas', () => {
    expect(headers.all(['X-Other-Group', 'X-Remote-Group'])).to.deep.equal(['d', 'a, b', 'c']);
  });

  it('returns the suffix after a prefix in lower case', () => {
    expect([...headers.withPrefix(['X-Remote-Extra-'])]).to.deep.equal([
      ['scopes', 'x'],
      ['scopes', 'y'],
      ['', 'nameless'],
    ]);
    expect([...headers.withPrefix([])]).to.deep.equal([]);
  });

  it('reads values as UTF-8', () => {
    expect(headers.first(['x-name'])).to.equal('zoë');
  });
});
