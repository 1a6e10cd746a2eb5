import { constants } from 'node:fs';
import { access, chmod, glob, mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CertificateAuthority } from '#simulator/pki/certificate-authority.ts';
import { freePort } from './free-port.ts';
import { runToEnd } from './run-to-end.ts';
import { SpawnedProgram } from './spawned-program.ts';
import { TemporaryDirectory } from './temporary-directory.ts';

/** A real database server, in a folder and on a port of its own, on 127.0.0.1. */
export interface RealDatabase extends AsyncDisposable {
  readonly system: 'mysql' | 'postgres';
  readonly port: number;
  /** Who signed its certificate, in PEM. */
  readonly ca: string;
  /** Runs statements as the administrator. @throws with what the server says against them */
  run(statements: string): Promise<void>;
}

const SEARCHED = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
const READY_WITHIN_MS = 60_000;

/** Where `mariadbd` is; `undefined` where this machine has none, or where it cannot be run. */
export async function findMariadb(): Promise<string | undefined> {
  return isRoot() ? await findIn(SEARCHED, 'mariadbd') : undefined;
}

/** Where the programs of PostgreSQL are; `undefined` where this machine has none, or where they cannot be run. */
export async function findPostgres(): Promise<string | undefined> {
  const folders: string[] = [];
  for await (const folder of glob('/usr/lib/postgresql/*/bin')) folders.push(folder);
  const found = await findIn([...folders.reverse(), ...SEARCHED], 'initdb');
  return isRoot() && found ? join(found, '..') : undefined;
}

/** Starts MariaDB with a user `reader` with the password `secret`, who may do anything with a database `shop`. */
export async function startMariadb(binary: string): Promise<RealDatabase> {
  await using starting = new AsyncDisposableStack();
  const directory = starting.use(await TemporaryDirectory.create());
  await chmod(directory.path, 0o755);
  const data = join(directory.path, 'data');
  // Each one that starts deletes the temporary tables of all others that have theirs in the same folder.
  const temporary = join(directory.path, 'temporary');
  await mkdir(temporary);
  await succeed('chown', ['mysql', temporary]);
  await succeed('mariadb-install-db', [
    ...['--no-defaults', '--user=mysql', `--datadir=${data}`, `--tmpdir=${temporary}`],
    ...['--auth-root-authentication-method=normal', '--skip-test-db'],
  ]);
  const port = await freePort();
  const socket = join(data, 'socket');
  const { ca, certificate, key } = await writeCertificate(directory, 'mysql');
  const options = [
    `--datadir=${data}`,
    `--tmpdir=${temporary}`,
    `--port=${port}`,
    `--socket=${socket}`,
    '--bind-address=127.0.0.1',
  ];
  options.push(`--ssl-cert=${certificate}`, `--ssl-key=${key}`);
  const server = starting.use(
    new SpawnedProgram(binary, ['--no-defaults', '--user=mysql', ...options], { name: 'MariaDB' }),
  );
  const client = ['--no-defaults', `--socket=${socket}`, '--user=root'];
  const run = async (statements: string, database = 'shop') =>
    await succeed('mariadb', [...client, `--execute=${statements}`, ...(database ? [database] : [])]);
  await untilReady(server, () => run('SELECT 1', ''));
  const account = `'reader'@'127.0.0.1'`;
  const create = `CREATE DATABASE shop; CREATE USER ${account} IDENTIFIED BY 'secret'; GRANT ALL ON shop.* TO ${account}`;
  await run(create, '');
  return databaseOf('mysql', { port, ca, run, owned: starting.move() });
}

/** The same of PostgreSQL. */
export async function startPostgres(folder: string): Promise<RealDatabase> {
  await using starting = new AsyncDisposableStack();
  const directory = starting.use(await TemporaryDirectory.create());
  await chmod(directory.path, 0o777);
  const data = join(directory.path, 'data');
  const password = await directory.write('password', 'secret', { mode: 0o644 });
  const asPostgres = ['-u', 'postgres', '--'];
  await succeed('runuser', [
    ...[...asPostgres, join(folder, 'initdb'), `--pgdata=${data}`],
    ...['--username=reader', '--auth-host=scram-sha-256', '--auth-local=trust', `--pwfile=${password}`],
  ]);
  const port = await freePort();
  const { ca, certificate, key } = await writeCertificate(directory, 'postgres');
  const options = ['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-k', data];
  options.push('-c', 'ssl=on', '-c', `ssl_cert_file=${certificate}`, '-c', `ssl_key_file=${key}`);
  const server = starting.use(
    new SpawnedProgram('runuser', [...asPostgres, join(folder, 'postgres'), ...options], {
      name: 'PostgreSQL',
    }),
  );
  const client = [`--host=${data}`, `--port=${port}`, '--username=reader', '--set=ON_ERROR_STOP=1'];
  const run = async (statements: string, database = 'shop') =>
    await succeed(join(folder, 'psql'), [...client, `--dbname=${database}`, `--command=${statements}`]);
  await untilReady(server, () => run('SELECT 1', 'postgres'));
  await run('CREATE DATABASE shop', 'postgres');
  return databaseOf('postgres', { port, ca, run, owned: starting.move() });
}

function databaseOf(
  system: RealDatabase['system'],
  { owned, ...facts }: Pick<RealDatabase, 'port' | 'ca' | 'run'> & { owned: AsyncDisposableStack },
): RealDatabase {
  return { system, ...facts, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** A certificate for 127.0.0.1 and its key, in files of the user who runs the server. */
async function writeCertificate(directory: TemporaryDirectory, user: string) {
  const authority = new CertificateAuthority('database');
  const { certificatePem, privateKeyPem } = authority.issue({
    subject: { commonName: 'database' },
    names: ['127.0.0.1'],
    usages: ['serverAuth'],
  });
  const certificate = await directory.write('server.crt', certificatePem, { mode: 0o644 });
  const key = await directory.write('server.key', privateKeyPem, { mode: 0o600 });
  await succeed('chown', [user, key]);
  return { ca: authority.certificatePem, certificate, key };
}

async function untilReady(server: SpawnedProgram, ask: () => Promise<void>): Promise<void> {
  const deadlineMs = Date.now() + READY_WITHIN_MS;
  for (;;) {
    const failure = await ask().catch((error: Error) => error);
    if (!failure) return;
    if (Date.now() > deadlineMs)
      throw new Error(
        `${server.name} is not ready: ${failure.message}\n${server.output.slice(-10).join('\n')}`,
      );
    await sleep(100);
  }
}

async function succeed(program: string, args: readonly string[]): Promise<void> {
  const { exitStatus, stderr, stdout } = await runToEnd(program, args, READY_WITHIN_MS);
  if (exitStatus !== 0) throw new Error(`${program} fails: ${stderr.trim() || stdout.trim()}`);
}

async function findIn(folders: readonly string[], name: string): Promise<string | undefined> {
  for (const folder of folders) {
    const path = join(folder, name);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
