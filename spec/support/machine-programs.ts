import { constants } from 'node:fs';
import { access, glob } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Context } from 'mocha';
import { allowProgram } from './requested-programs.ts';

/** Programs that specs run and that a machine may lack, with Debian's package of each; the only such list. */
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

/** A program that a machine may lack. */
export type MachineProgram = keyof typeof PACKAGES;

/** Where Debian has those that are not on every PATH. RabbitMQ's on PATH runs as another user. */
const FOLDERS: Partial<Record<MachineProgram, string>> = {
  initdb: '/usr/lib/postgresql/*/bin',
  mariadbd: '/usr/sbin',
  'rabbitmq-server': '/usr/lib/rabbitmq/bin',
  runuser: '/usr/sbin',
};

/**
 * Finds a program of the machine: in Debian's own folder for it, else on PATH.
 *
 * @returns `undefined` where this machine has none
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
 * Finds a program of the machine for a spec; where there is none, the spec skips itself and one line names Debian's package.
 *
 * @throws Error where there is none and `CI` is set: CI installs them, and a skipped spec would go unnoticed.
 */
export async function requireProgram(spec: Context, name: MachineProgram): Promise<string> {
  const path = await findProgram(name);
  if (path !== undefined) return path;
  const missing = `${name} is missing (Debian's package ${PACKAGES[name]})`;
  if (process.env.CI) throw new Error(`Cannot run this spec: ${missing}`);
  return skip(spec, missing);
}

/** Skips a spec for what this machine does not allow, whatever is installed, and says so in one line. */
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
