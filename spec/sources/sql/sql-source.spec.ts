import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { openSqlSource } from '#lib/sources/sql/sql-source.ts';
import { describeError } from '#lib/telemetry/logger.ts';
import { eventually } from '#spec/support/eventually.ts';
import { freePort } from '#spec/support/free-port.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

const signal = new AbortController().signal;

describe('openSqlSource', () => {
  it('asks the database that the file names now, under the same key', async () => {
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
    const { key, ask, description, mostAtOnce } = source.query('SELECT 1');
    expect(mostAtOnce).to.equal(4); // its connections, which namespaces share by turns
    expect(description).to.equal('SELECT 1 of SQL source jobs');
    const placeOf = async () => await ask(signal).then(() => 'none', describeError);
    expect(await placeOf()).to.include(`at 127.0.0.1:${ports[0]}`);
    await writeFile(path, textOf(ports[1]));
    await clock.advance(5_000);
    await eventually(async () => (await placeOf()).includes(`at 127.0.0.1:${ports[1]}`));
    expect(source.query('SELECT 1').key).to.equal(key);
  });

  it('lets those namespaces ask that the file names now, and tells when it changes', async () => {
    await using directory = await TemporaryDirectory.create();
    const clock = new ManualClock();
    const textOf = (namespaces?: readonly string[]) =>
      JSON.stringify({ system: 'mysql', host: 'db', user: 'u', database: 'd', namespaces });
    const path = await directory.write('jobs.yaml', textOf());
    await using source = await openSqlSource(
      { name: 'jobs', path },
      { clock, logger: new RecordingLogger(), findAddresses: undefined },
    );
    const told: boolean[] = [];
    source.onChange(() => told.push(source.allows('shop')));
    expect(source.allows('shop')).to.equal(true);
    for (const namespaces of [['billing'], ['billing', 'shop'], undefined]) {
      const seen = told.length;
      await writeFile(path, textOf(namespaces));
      await clock.advance(5_000);
      await eventually(async () => told.length > seen);
    }
    expect(told).to.deep.equal([false, true, true]);
  });

  it('refuses a file that cannot be used, naming it', async () => {
    await using directory = await TemporaryDirectory.create();
    const path = join(directory.path, 'jobs.yaml');
    await writeFile(path, 'system: oracle');
    const failed = await openSqlSource(
      { name: 'jobs', path },
      { clock: new ManualClock(), logger: new RecordingLogger(), findAddresses: undefined },
    ).then(() => 'none', describeError);
    expect(failed)
      .to.include(`Cannot use SQL source jobs in ${path}`)
      .and.to.include('system cannot be used');
  });
});
