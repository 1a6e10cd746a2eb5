import { expect } from 'chai';
import { readSqlSource } from '#lib/sources/sql/read-sql-source.ts';

const LEAST = { system: 'mariadb', host: 'db.example', user: 'reader', database: 'shop' };

describe('readSqlSource', () => {
  it('takes what is usual for granted', () => {
    expect(readSqlSource(JSON.stringify(LEAST))).to.deep.equal({
      database: { ...LEAST, system: 'mysql', port: 3306, password: '', tls: undefined },
      namespaces: undefined,
    });
    expect(readSqlSource(JSON.stringify({ ...LEAST, system: 'postgresql' })).database).to.include({
      system: 'postgres',
      port: 5432,
    });
  });

  it('takes YAML with all that can be said', () => {
    const text = `
system: postgres
host: 10.0.0.7
port: 6432
user: reader
password: "123"
database: shop
namespaces: [shop, billing-2]
tls: {ca: CA, cert: C, key: K, insecureSkipVerify: true}
`;
    expect(readSqlSource(text)).to.deep.equal({
      database: {
        system: 'postgres',
        host: '10.0.0.7',
        port: 6432,
        user: 'reader',
        password: '123',
        database: 'shop',
        tls: { ca: 'CA', cert: 'C', key: 'K', isUnverified: true },
      },
      namespaces: ['shop', 'billing-2'],
    });
  });

  for (const [what, change, message] of [
    ['another system', { system: 'oracle' }, 'system cannot be used'],
    ['a path for a host', { host: '/var/run/socket' }, 'host cannot be used: must be a host name'],
    ['no host', { host: undefined }, 'host cannot be used'],
    ['a port out of range', { port: 65_536 }, 'port cannot be used'],
    ['a number for a password', { password: 12_345 }, 'password cannot be used'],
    ['no user', { user: '' }, 'user cannot be used'],
    ['no database', { database: '' }, 'database cannot be used'],
    ['no namespace at all', { namespaces: [] }, 'namespaces cannot be used'],
    ['a namespace alone', { namespaces: 'shop' }, 'namespaces cannot be used'],
    ['what is no namespace', { namespaces: ['shop', '*'] }, 'namespaces.1 cannot be used: must be the name'],
    [
      'too many namespaces',
      { namespaces: Array.from({ length: 1_001 }, (_, index) => `n${index}`) },
      'namespaces cannot be used',
    ],
    ['a key that means nothing', { pasword: 'hidden' }, 'pasword cannot be used'],
    ['a certificate without its key', { tls: { cert: 'hidden' } }, 'tls.cert and tls.key need each other'],
    ['a key of tls that means nothing', { tls: { verify: false } }, 'verify cannot be used'],
  ] as const)
    it(`refuses ${what}, and shows no value`, () => {
      const read = () => readSqlSource(JSON.stringify({ ...LEAST, ...change }));
      expect(read).to.throw(message);
      expect(read).not.to.throw(/hidden|12345/);
    });

  it('names each key that means nothing, and those that there are', () => {
    const good = 'system: mysql\nhost: db\nuser: u\ndatabase: d\n';
    expect(() => readSqlSource(`${good}prot: 1\npasword: hidden\n`)).to.throw(
      /^prot, pasword cannot be used: the keys are system, host, port, user, password, database, namespaces, tls$/,
    );
    expect(() => readSqlSource(`${good}tls: {cacert: hidden}\n`)).to.throw(
      /^tls\.cacert cannot be used: the keys are ca, cert, key, insecureSkipVerify$/,
    );
  });

  it('refuses what is no YAML without a word of it, and what is too long', () => {
    expect(() => readSqlSource('password: [hidden')).to.throw(/^it must be YAML without aliases$/);
    expect(() => readSqlSource('')).to.throw('it cannot be used');
    expect(() => readSqlSource('a'.repeat(300_000))).to.throw('no longer than 262144');
  });
});
