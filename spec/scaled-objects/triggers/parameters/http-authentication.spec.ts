import { rootCertificates } from 'node:tls';
import { expect } from 'chai';
import { z } from 'zod';
import {
  HTTP_AUTHENTICATION,
  httpIdentity,
} from '#lib/scaled-objects/triggers/parameters/http-authentication.ts';

const CA = rootCertificates[0] ?? '';

const SCHEMA = z.object(HTTP_AUTHENTICATION);
const ALL = {
  ...{ bearerToken: ' t ', username: ' ann ', password: 'p:w', ca: CA, cert: ' CERT ', key: 'KEY' },
  ...{ customAuthHeader: ' X-Key ', customAuthValue: ' v ' },
};

describe('httpIdentity', () => {
  const BASIC = `Basic ${Buffer.from('ann:p:w').toString('base64')}`;
  for (const [authModes, authorization, files, headers] of [
    [undefined, undefined, {}, {}],
    ['', undefined, {}, {}],
    ['bearer', 'Bearer t', {}, {}],
    ['basic', BASIC, {}, {}],
    ['tls', undefined, { cert: 'CERT', key: 'KEY' }, {}],
    ['custom', undefined, {}, { 'X-Key': 'v' }],
    ['custom', undefined, {}, { 'X-Key': 'v' }],
    [' tls , basic,custom,', BASIC, { cert: 'CERT', key: 'KEY' }, { 'X-Key': 'v' }],
    ['apiKey,tls,bearer', 'Bearer t', { cert: 'CERT', key: 'KEY' }, {}],
  ] as const)
    it(`sends the credentials of ${JSON.stringify(authModes)}, and trusts the CA`, () => {
      const given = SCHEMA.parse({ ...ALL, ...(authModes !== undefined && { authModes }) });
      const identity = httpIdentity(given, false);
      expect(identity.credentials.current).to.deep.equal({ authorization, ca: CA, ...files });
      expect(identity.headers).to.deep.equal(headers);
    });

  it('returns the modes, and that verification is skipped', () => {
    const identity = httpIdentity(SCHEMA.parse({ authModes: 'apiKey, tls', cert: 'a', key: 'b' }), true);
    expect(identity.modes).to.deep.equal(['apiKey', 'tls']);
    expect(identity.credentials.current.isUnverified).to.equal(true);
  });

  it('loads no client key that is encrypted', () => {
    const encrypted = '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----';
    const given = SCHEMA.parse({ authModes: 'tls', cert: 'CERT', key: encrypted });
    expect(() => httpIdentity(given, false)).to.throw('Cannot read parameter "key" without a passphrase');
  });

  it('needs no password of basic', () => {
    const { credentials } = httpIdentity(SCHEMA.parse({ authModes: 'basic', username: 'ann' }), false);
    expect(credentials.current.authorization).to.equal(`Basic ${Buffer.from('ann:').toString('base64')}`);
  });

  for (const [authModes, message] of [
    ['oauth', 'parameter "authModes" value "oauth" is not supported'],
    ['digest', 'parameter "authModes" value "digest" must be one of [apiKey basic tls bearer custom]'],
    [
      'bearer,tls,basic',
      'parameter "authModes" value "bearer,tls,basic" must contain only one of [bearer basic]',
    ],
    ['bearer', 'missing required parameter "bearerToken" in [authParams]'],
    ['basic', 'missing required parameter "username" in [authParams]'],
    ['tls', 'missing required parameter "cert" in [authParams]'],
    ['custom', 'missing required parameter "customAuthHeader" in [authParams]'],
  ] as const)
    it(`rejects ${authModes} with the reason`, () => {
      expect(() => httpIdentity(SCHEMA.parse({ authModes }), false)).to.throw(message);
    });

  it('needs each half of a pair', () => {
    expect(() => httpIdentity(SCHEMA.parse({ authModes: 'tls', cert: 'a' }), false)).to.throw('"key"');
    const header = { authModes: 'custom', customAuthHeader: 'a' };
    expect(() => httpIdentity(SCHEMA.parse(header), false)).to.throw('"customAuthValue"');
  });
});
