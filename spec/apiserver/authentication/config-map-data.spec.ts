import { expect } from 'chai';
import { clientAuthoritiesIn, dataOf, frontProxyIn } from '#lib/apiserver/authentication/config-map-data.ts';
import { TestAuthority } from '#spec/support/issued-certificates.ts';

const { pem } = new TestAuthority('front-proxy');

const DATA = {
  'client-ca-file': pem,
  'requestheader-client-ca-file': pem,
  'requestheader-allowed-names': '["a"," b "]',
  'requestheader-username-headers': '["X-Remote-User"]',
  'requestheader-group-headers': '["X-Remote-Group"]',
  'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
};

describe('the data of extension-apiserver-authentication', () => {
  it('are the texts of a config map, and nothing else', () => {
    const data = JSON.parse('{"a":"b","c":1,"__proto__":"d"}');
    expect(Object.entries(dataOf({ data }))).to.deep.equal([
      ['a', 'b'],
      ['__proto__', 'd'],
    ]);
    for (const nothing of [undefined, null, 1, {}, { data: null }, { data: 'a' }]) {
      expect(dataOf(nothing)).to.deep.equal({});
    }
  });

  it('say who the front proxy is and how it speaks', () => {
    expect(frontProxyIn(DATA)).to.deep.include({
      allowedNames: ['a', 'b'],
      headers: {
        username: ['X-Remote-User'],
        uid: [],
        group: ['X-Remote-Group'],
        extraPrefix: ['X-Remote-Extra-'],
      },
    });
    expect(frontProxyIn(DATA)?.authorities.certificates).to.have.lengthOf(1);
    expect(
      frontProxyIn({ ...DATA, 'requestheader-uid-headers': '["X-Remote-Uid"]' })?.headers.uid,
    ).to.deep.equal(['X-Remote-Uid']);
  });

  it('may say that there is none', () => {
    expect(frontProxyIn({ 'client-ca-file': pem })).to.equal(undefined);
    expect(clientAuthoritiesIn(DATA).certificates).to.have.lengthOf(1);
  });

  it('are refused where they say nothing that can be read', () => {
    expect(() => clientAuthoritiesIn({})).to.throw('there is no certificate');
    expect(() => clientAuthoritiesIn(dataOf({ data: Object.create({ 'client-ca-file': pem }) }))).to.throw();
    expect(() => frontProxyIn({ ...DATA, 'requestheader-client-ca-file': '' })).to.throw('no certificate');
    for (const text of ['{', '"a"', '[1]', '{"a":"b"}']) {
      expect(() => frontProxyIn({ ...DATA, 'requestheader-allowed-names': text }), text).to.throw(
        'Cannot read requestheader-allowed-names',
      );
    }
  });
});
