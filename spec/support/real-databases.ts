import { chmod, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Context } from 'mocha';
import { CertificateAuthority } from '#simulator/access/certificate-authority.ts';
import { freePort } from './free-port.ts';
import { findProgram, type MachineProgram, requireProgram, skip } from './machine-programs.ts';
import { allowProgram } from './requested-programs.ts';
import { runToEnd } from './run-to-end.ts';
import { SpawnedProgram } from './spawned-program.ts';
import { TemporaryDirectory } from './temporary-directory.ts';

/** A real database server with its own folder and port on 127.0.0.1. */
export interface RealDatabase extends AsyncDisposable {
  readonly system: 'mysql' | 'postgres';
  readonly port: number;
  /** The authority of its certificate, in PEM. */
  readonly ca: string;
  /** Runs statements as the administrator. @throws with the server's error message */
  run(statements: string): Promise<void>;
}

const READY_WITHIN_MS = 60_000;

/** Programs that each system needs. */
const PROGRAMS = {
  mysql: ['mariadb', 'mariadb-install-db', 'mariadbd'],
  postgres: ['initdb', 'runuser'],
} as const satisfies Record<RealDatabase['system'], readonly MachineProgram[]>;

/** Skips a spec if the machine has no such server or may not start one. */
export async function requireDatabase(spec: Context, system: RealDatabase['system']): Promise<void> {
  for (const name of PROGRAMS[system]) await requireProgram(spec, name);
  if (!isRoot()) skip(spec, `only root can start a server of ${system}, which runs as a user of its own`);
}

/** Whether `requireDatabase` does not skip the spec. */
export async function canStartDatabase(system: RealDatabase['system']): Promise<boolean> {
  const paths = await Promise.all(PROGRAMS[system].map(findProgram));
  return isRoot() && paths.every((path) => path !== undefined);
}

/**
 * Starts MariaDB with a user `reader` with the password `secret`, who has all privileges on a database `shop`; skips the
 * spec if there is none.
 */
export async function startMariadb(spec: Context): Promise<RealDatabase> {
  await requireDatabase(spec, 'mysql');
  const clientBinary = await requireProgram(spec, 'mariadb');
  const install = await requireProgram(spec, 'mariadb-install-db');
  const binary = await requireProgram(spec, 'mariadbd');
  await using starting = new AsyncDisposableStack();
  const directory = starting.use(await TemporaryDirectory.create());
  await chmod(directory.path, 0o755);
  const data = join(directory.path, 'data');
  // A starting server deletes the temporary tables of all others that use the same folder.
  const temporary = join(directory.path, 'temporary');
  await mkdir(temporary);
  await succeed('chown', ['mysql', temporary]);
  await succeed(install, [
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
    await succeed(clientBinary, [...client, `--execute=${statements}`, ...(database ? [database] : [])]);
  await server.until(() => succeeds(run('SELECT 1', '')));
  const account = `'reader'@'127.0.0.1'`;
  const create = `CREATE DATABASE shop; CREATE USER ${account} IDENTIFIED BY 'secret'; GRANT ALL ON shop.* TO ${account}`;
  await run(create, '');
  return databaseOf('mysql', { port, ca, run, owned: starting.move() });
}

/** Starts PostgreSQL, like `startMariadb`. */
export async function startPostgres(spec: Context): Promise<RealDatabase> {
  await requireDatabase(spec, 'postgres');
  const folder = dirname(await requireProgram(spec, 'initdb'));
  const runAs = await requireProgram(spec, 'runuser');
  const sqlClient = join(folder, 'psql');
  allowProgram(sqlClient); // of the same package
  await using starting = new AsyncDisposableStack();
  const directory = starting.use(await TemporaryDirectory.create());
  await chmod(directory.path, 0o777);
  const data = join(directory.path, 'data');
  const password = await directory.write('password', 'secret', { mode: 0o644 });
  const asPostgres = ['-u', 'postgres', '--'];
  await succeed(runAs, [
    ...[...asPostgres, join(folder, 'initdb'), `--pgdata=${data}`],
    ...['--username=reader', '--auth-host=scram-sha-256', '--auth-local=trust', `--pwfile=${password}`],
  ]);
  const port = await freePort();
  const { ca, certificate, key } = await writeCertificate(directory, 'postgres');
  const options = ['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-k', data];
  options.push('-c', 'ssl=on', '-c', `ssl_cert_file=${certificate}`, '-c', `ssl_key_file=${key}`);
  const server = starting.use(
    new SpawnedProgram(runAs, [...asPostgres, join(folder, 'postgres'), ...options], {
      name: 'PostgreSQL',
    }),
  );
  const client = [`--host=${data}`, `--port=${port}`, '--username=reader', '--set=ON_ERROR_STOP=1'];
  const run = async (statements: string, database = 'shop') =>
    await succeed(sqlClient, [...client, `--dbname=${database}`, `--command=${statements}`]);
  await server.until(() => succeeds(run('SELECT 1', 'postgres')));
  await run('CREATE DATABASE shop', 'postgres');
  return databaseOf('postgres', { port, ca, run, owned: starting.move() });
}

function databaseOf(
  system: RealDatabase['system'],
  { owned, ...facts }: Pick<RealDatabase, 'port' | 'ca' | 'run'> & { owned: AsyncDisposableStack },
): RealDatabase {
  return { system, ...facts, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** A certificate for 127.0.0.1 and its key, in files that belong to the server's user. */
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

async function succeeds(done: Promise<void>): Promise<boolean> {
  return await done.then(
    () => true,
    () => false,
  );
}

async function succeed(program: string, args: readonly string[]): Promise<void> {
  const { exitStatus, stderr, stdout } = await runToEnd(program, args, READY_WITHIN_MS);
  if (exitStatus !== 0) throw new Error(`${program} fails: ${stderr.trim() || stdout.trim()}`);
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
