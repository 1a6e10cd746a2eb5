import { rootCertificates } from 'node:tls';
import { expect } from 'chai';
import { authorityIn } from '#lib/scaled-objects/parameters/authority.ts';
import { httpIdentity } from '#lib/scaled-objects/parameters/http-authentication.ts';

const [CA = '', OTHER = ''] = rootCertificates;
const NONE = 'parameter "ca" holds no certificate in PEM';

describe('authorityIn', () => {
  it('takes one certificate, several, and none at all', () => {
    for (const ca of [CA, `${CA}\n${OTHER}`, undefined, '', ' \n']) expect(authorityIn(ca)).to.equal(ca);
  });

  it('refuses what TLS would pass over in silence', () => {
    for (const ca of ['CA', CA.slice(0, 200), CA.replaceAll('CERTIFICATE', 'CERT')])
      expect(() => authorityIn(ca)).to.throw(NONE);
    expect(() => httpIdentity({ ca: 'CA' } as never, false)).to.throw(NONE);
  });
});
