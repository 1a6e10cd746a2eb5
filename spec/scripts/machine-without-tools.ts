import { access, rm, symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

/** Programs that scripts call, besides those that are missing. */
const ORDINARY = 'sh env mktemp rm timeout id dpkg-deb tar mkdir mv cp chmod tail ls'.split(' ');

/** A folder that serves as PATH, with only these programs. */
export async function machineWithoutTools(): Promise<TemporaryDirectory> {
  const machine = await TemporaryDirectory.create();
  for (const name of ORDINARY) {
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      const path = join(folder, name);
      const isThere = await access(path).then(
        () => true,
        () => false,
      );
      if (!isThere) continue;
      await symlink(path, join(machine.path, name));
      break;
    }
  }
  return machine;
}

/** Adds or replaces a program. */
export async function program(machine: TemporaryDirectory, name: string, script: string): Promise<void> {
  const path = join(machine.path, name);
  await rm(path, { force: true });
  await machine.write(name, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}
