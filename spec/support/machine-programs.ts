import { constants } from 'node:fs';
import { access, glob } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Context } from 'mocha';
import { allowProgram } from './requested-programs.ts';

/** Installed programs that specs need and their Debian packages; the only such list. */
const PACKAGES = {
  chromium: 'chromium',
  'dpkg-deb': 'dpkg',
  epmd: 'erlang-base',
  flock: 'util-linux',
  initdb: 'postgresql',
  mariadb: 'mariadb-client',
  'mariadb-install-db': 'mariadb-server',
  mariadbd: 'mariadb-server',
  'nats-server': 'nats-server',
  prometheus: 'prometheus',
  promtool: 'prometheus',
  'rabbitmq-server': 'rabbitmq-server',
  'redis-server': 'redis-server',
  runuser: 'util-linux',
  unshare: 'util-linux',
} as const;

export type MachineProgram = keyof typeof PACKAGES;

/** Debian's folders for programs that are not on every PATH. RabbitMQ on PATH runs as another user. */
const FOLDERS: Partial<Record<MachineProgram, string>> = {
  initdb: '/usr/lib/postgresql/*/bin',
  mariadbd: '/usr/sbin',
  'rabbitmq-server': '/usr/lib/rabbitmq/bin',
  runuser: '/usr/sbin',
};

/**
 * Finds an installed program: in its Debian folder, then on PATH.
 *
 * @returns `undefined` if it is not installed
 */
export async function findProgram(name: MachineProgram): Promise<string | undefined> {
  const folders: string[] = [];
  for await (const folder of glob(FOLDERS[name] ?? [])) folders.unshift(folder);
  for (const folder of [...folders, ...(process.env.PATH ?? '').split(delimiter)]) {
    const path = join(folder, name);
    if (!(await isExecutable(path))) continue;
    allowProgram(path);
    return path;
  }
  return undefined;
}

/**
 * Finds an installed program for a spec; if it is missing, the spec skips itself and one line names Debian's package.
 *
 * @throws Error if it is missing and `CI` is set: CI installs all of them, and a skipped spec would go unnoticed.
 */
export async function requireProgram(spec: Context, name: MachineProgram): Promise<string> {
  const path = await findProgram(name);
  if (path !== undefined) return path;
  const missing = `${name} is missing (Debian's package ${PACKAGES[name]})`;
  if (process.env.CI) throw new Error(`Cannot run this spec: ${missing}`);
  return skip(spec, missing);
}

/** Skips a spec for something that this machine does not permit, and reports the reason in one line. */
export function skip(spec: Context, reason: string): never {
  console.log(`      SKIPPED: ${reason}`);
  process.send?.({ skipped: reason }); // to scripts/run-specs.ts, which lists all of them at the end
  return spec.skip();
}

async function isExecutable(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
