import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { openSqlSource, readSqlSource } from '#lib/sources/sql/sql-source.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { eventually } from '#spec/support/eventually.ts';
import { freePort } from '#spec/support/free-port.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

const signal = new AbortController().signal;

describe('openSqlSource', () => {
  it('queries the database of the current file under the same key', async () => {
    await using directory = await TemporaryDirectory.create();
    const clock = new ManualClock();
    const ports = [await freePort(), await freePort()];
    const textOf = (port: number | undefined) =>
      JSON.stringify({
        system: 'postgres',
        host: '127.0.0.1',
        port,
        user: 'u',
        password: 'p',
        database: 'd',
      });
    const path = await directory.write('jobs.yaml', textOf(ports[0]));
    await using source = await openSqlSource(
      { name: 'jobs', path },
      { clock, logger: new RecordingLogger(), findAddresses: undefined },
    );
    const { key, run, description, maxConcurrent } = source.query('SELECT 1');
    expect(maxConcurrent).to.equal(4); // its connections, which namespaces share round robin
    expect(description).to.equal('SELECT 1 of SQL source jobs');
    const placeOf = async () => await run(signal).then(() => 'none', describeError);
    expect(await placeOf()).to.include(`at 127.0.0.1:${ports[0]}`);
    await writeFile(path, textOf(ports[1]));
    await clock.advance(5_000);
    await eventually(async () => (await placeOf()).includes(`at 127.0.0.1:${ports[1]}`));
    expect(source.query('SELECT 1').key).to.equal(key);
  });

  it('allows the namespaces of the current file, and reports changes', async () => {
    await using directory = await TemporaryDirectory.create();
    const clock = new ManualClock();
    const textOf = (namespaces?: readonly string[]) =>
      JSON.stringify({ system: 'mysql', host: 'db', user: 'u', database: 'd', namespaces });
    const path = await directory.write('jobs.yaml', textOf());
    await using source = await openSqlSource(
      { name: 'jobs', path },
      { clock, logger: new RecordingLogger(), findAddresses: undefined },
    );
    const reported: boolean[] = [];
    source.onChange(() => reported.push(source.allows('shop')));
    expect(source.allows('shop')).to.equal(true);
    for (const namespaces of [['billing'], ['billing', 'shop'], undefined]) {
      const observed = reported.length;
      await writeFile(path, textOf(namespaces));
      await clock.advance(5_000);
      await eventually(async () => reported.length > observed);
    }
    expect(reported).to.deep.equal([false, true, true]);
  });

  it('refuses a file that cannot be used, naming it', async () => {
    await using directory = await TemporaryDirectory.create();
    const path = join(directory.path, 'jobs.yaml');
    await writeFile(path, 'system: oracle');
    const failed = await openSqlSource(
      { name: 'jobs', path },
      { clock: new ManualClock(), logger: new RecordingLogger(), findAddresses: undefined },
    ).then(() => 'none', describeError);
    expect(failed).to.include(`Cannot use SQL source jobs in ${path}`).and.to.include('system is invalid');
  });
});

const MINIMUM = { system: 'mariadb', host: 'db.example', user: 'reader', database: 'shop' };

describe('readSqlSource', () => {
  it('uses defaults for absent settings', () => {
    expect(readSqlSource(JSON.stringify(MINIMUM))).to.deep.equal({
      database: { ...MINIMUM, system: 'mysql', port: 3306, password: '', tls: undefined },
      namespaces: undefined,
    });
    expect(readSqlSource(JSON.stringify({ ...MINIMUM, system: 'postgresql' })).database).to.include({
      system: 'postgres',
      port: 5432,
    });
  });

  it('accepts YAML with all settings', () => {
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
    ['another system', { system: 'oracle' }, 'system is invalid'],
    ['a path for a host', { host: '/var/run/socket' }, 'host is invalid: must be a host name'],
    ['no host', { host: undefined }, 'host is invalid'],
    ['a port out of range', { port: 65_536 }, 'port is invalid'],
    ['a number for a password', { password: 12_345 }, 'password is invalid'],
    ['no user', { user: '' }, 'user is invalid'],
    ['no database', { database: '' }, 'database is invalid'],
    ['no namespace at all', { namespaces: [] }, 'namespaces is invalid'],
    ['a namespace alone', { namespaces: 'shop' }, 'namespaces is invalid'],
    ['what is no namespace', { namespaces: ['shop', '*'] }, 'namespaces.1 is invalid: must be the name'],
    [
      'too many namespaces',
      { namespaces: Array.from({ length: 1_001 }, (_, index) => `n${index}`) },
      'namespaces is invalid',
    ],
    ['a key that means nothing', { pasword: 'hidden' }, 'unknown keys pasword'],
    [
      'a certificate without its key',
      { tls: { cert: 'hidden' } },
      'tls.cert and tls.key must be set together',
    ],
    ['a key of tls that means nothing', { tls: { verify: false } }, 'unknown keys tls.verify'],
  ] as const)
    it(`refuses ${what}, and shows no value`, () => {
      const read = () => readSqlSource(JSON.stringify({ ...MINIMUM, ...change }));
      expect(read).to.throw(message);
      expect(read).not.to.throw(/hidden|12345/);
    });

  it('names each key that means nothing, and those that there are', () => {
    const good = 'system: mysql\nhost: db\nuser: u\ndatabase: d\n';
    expect(() => readSqlSource(`${good}prot: 1\npasword: hidden\n`)).to.throw(
      /^unknown keys prot, pasword; the keys are system, host, port, user, password, database, namespaces, tls$/,
    );
    expect(() => readSqlSource(`${good}tls: {cacert: hidden}\n`)).to.throw(
      /^unknown keys tls\.cacert; the keys are ca, cert, key, insecureSkipVerify$/,
    );
  });

  it('refuses invalid YAML without quoting it, and long files', () => {
    expect(() => readSqlSource('password: [hidden')).to.throw(/^the file must be YAML without aliases$/);
    expect(() => readSqlSource('')).to.throw('the file is invalid');
    expect(() => readSqlSource('a'.repeat(300_000))).to.throw('no longer than 262144');
  });
});
