import { generateKeyPairSync } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { expect } from 'chai';
import { z } from 'zod';
import {
  REDIS_CONNECTION,
  type REDIS_FORMS,
  redisPlaceOf,
} from '#lib/scaled-objects/parameters/redis-connection.ts';

const CA = rootCertificates[0] ?? '';
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const PKCS8 = { type: 'pkcs8', format: 'pem' } as const;
const KEY = privateKey.export(PKCS8);
const ENCRYPTED = privateKey.export({ ...PKCS8, cipher: 'aes-256-cbc', passphrase: 'pw' }).toString();

const SCHEMA = z.object(REDIS_CONNECTION);
type Given = Readonly<Record<string, string>>;
const place = (given: Given, form: (typeof REDIS_FORMS)[number] = 'server') =>
  redisPlaceOf(SCHEMA.parse(given), form);

describe('redisPlaceOf', () => {
  it('finds addresses in a list, and in lists of hosts and ports', () => {
    const { addresses } = place({ address: ' a:1, ,b:2 ', host: 'c, [fd00::7]', port: '3,4' });
    expect(addresses).to.deep.equal([
      ...[
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
      ...[
        { host: 'c', port: 3 },
        { host: 'fd00::7', port: 4 },
      ],
    ]);
  });

  it('asks the database as the user, in clear unless it is said otherwise', () => {
    const given = { address: 'a:1', databaseIndex: '3', username: 'ann', password: 'pw', ca: CA };
    expect(place(given)).to.deep.equal({
      ...{ kind: 'server', addresses: [{ host: 'a', port: 1 }] },
      access: { database: 3, username: 'ann', password: 'pw', tls: undefined },
    });
  });

  it('refuses an authority that is no certificate', () => {
    expect(() => place({ address: 'a:1', enableTLS: 'true', ca: 'CA' })).to.throw(
      'parameter "ca" holds no certificate in PEM',
    );
  });

  for (const [given, isEncrypted] of [
    [{ enableTLS: 'true' }, true],
    [{ enableTLS: 'false' }, false],
    [{ tls: 'enable' }, true],
    [{ tls: 'disable' }, false],
  ] as const)
    it(`is ${isEncrypted ? '' : 'not '}encrypted by ${JSON.stringify(given)}`, () => {
      const files = { ca: CA, cert: 'CERT', key: ENCRYPTED, keyPassword: 'pw', unsafeSsl: 'true' };
      const secured = { ca: CA, cert: 'CERT', key: KEY, isUnverified: true };
      const { tls } = place({ address: 'a:1', ...files, ...given }).access;
      expect(tls).to.deep.equal(isEncrypted ? secured : undefined);
    });

  it('asks sentinels by their own login, always in database 0', () => {
    const sentinels = { sentinelMaster: ' main ', sentinelUsername: 'eve', sentinelPassword: 'word' };
    const given = { address: 'a:1', databaseIndex: '3', password: 'pw', enableTLS: 'true', ...sentinels };
    const found = place(given, 'sentinel');
    if (found.kind !== 'sentinel') throw new Error('they are sentinels');
    const { tls } = found.access;
    expect(found.master).to.equal('main');
    expect(found.access.database).to.equal(3);
    expect(tls).to.not.equal(undefined);
    expect(found.sentinelAccess).to.deep.equal({ database: 0, username: 'eve', password: 'word', tls });
  });

  it('takes a cluster, and a list of 50', () => {
    const list = (length: number) => Array.from({ length }, (_, index) => `h:${index + 1}`).join(',');
    expect(place({ address: list(50) }, 'cluster')).to.include({ kind: 'cluster' });
    expect(() => place({ address: list(51) }, 'cluster')).to.throw(
      'parameter "address" must be a list of no more than 50',
    );
  });

  for (const [given, form, message] of [
    [{}, 'server', /^no addresses or hosts given/],
    [{ address: ' , ' }, 'server', /^no addresses or hosts given/],
    [{ host: 'a,b', port: '1' }, 'server', /^not enough hosts or ports given/],
    [{ host: 'a' }, 'server', /^not enough hosts or ports given/],
    [{ address: 'a' }, 'server', /^parameter "address" value "a" must be host:port$/],
    [{ address: 'a:1', enableTLS: 'false', tls: 'enable' }, 'server', /^unable to set `tls` in both/],
    [
      { address: 'a:1', databaseIndex: '1' },
      'cluster',
      /^parameter "databaseIndex" cannot be set for a cluster$/,
    ],
    [{ address: 'a:1' }, 'sentinel', /^missing required parameter "sentinelMaster"/],
  ] as const)
    it(`refuses ${JSON.stringify(given)} for a ${form}`, () => {
      expect(() => place(given as Given, form)).to.throw(message);
    });
});
