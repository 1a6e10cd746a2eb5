// Runs the specs that need installed programs as on a fresh machine: with Node, npm, git, a shell and coreutils alone
// on PATH, and CI unset. They must pass or skip, and some must skip.
import { once } from 'node:events';
import { accessSync, constants, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative, resolve } from 'node:path';
import { startMocha } from './run-mocha.ts';

/** Importers of this file need installed programs. */
const LIST = 'spec/support/machine-programs.ts';

const COREUTILS =
  'basename cat chmod chown cp cut date dd dirname env expr false head id ln ls mkdir mkfifo mktemp mv od printf pwd readlink ' +
  'realpath rm rmdir sleep sort stat tail tee test timeout touch tr true uname uniq wc';
const PROGRAMS = `node npm git sh ${COREUTILS}`.split(' ');

const specs = specsThatNeed(LIST);
const machine = mkdtempSync(join(tmpdir(), 'bare-machine-'));
try {
  for (const name of PROGRAMS) link(name);
  const { CI: _, ...environment } = process.env;
  const PATH = [resolve('node_modules/.bin'), machine].join(delimiter);
  console.log(`Running ${specs.length} spec files without installed programs`);
  const skipped = new Set<string>();
  const mocha = startMocha(specs, {
    env: { ...environment, PATH },
    onMessage: ({ skipped: why }) => why !== undefined && skipped.add(why),
  });
  const [status] = await once(mocha, 'exit');
  if (skipped.size === 0) console.log('Cannot check skipping: no spec skipped itself');
  process.exitCode = skipped.size === 0 ? 1 : (status ?? 1);
} finally {
  rmSync(machine, { recursive: true });
}

/** Links a program of the machine. */
function link(name: string): void {
  const folders = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.startsWith(resolve('.')));
  const found = folders.map((folder) => join(folder, name)).find(isExecutable);
  if (found) symlinkSync(found, join(machine, name));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The specs that import a file, directly or indirectly. */
function specsThatNeed(file: string): string[] {
  const importers = new Map<string, string[]>();
  for (const path of globSync('{spec,scripts}/**/*.ts'))
    for (const [, imported = ''] of readFileSync(path, 'utf8').matchAll(/from '([#.][^']*)'/g)) {
      const target = imported.startsWith('#')
        ? imported.slice(1)
        : relative('.', resolve(dirname(path), imported));
      importers.set(target, [...(importers.get(target) ?? []), path]);
    }
  const needing = new Set([file]);
  for (const path of needing) for (const importer of importers.get(path) ?? []) needing.add(importer);
  return [...needing].filter((path) => path.endsWith('.spec.ts')).sort();
}
