// Bundles the server into dist/, or another folder: node scripts/build.ts [FOLDER]. The image runs it; it needs Node and nothing else.
import { chmod, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { build } from 'esbuild';
import { LEAVE_OUT } from './leave-out.ts';

const HASHBANG = '#!/usr/bin/env node\n';
// Bundled CommonJS packages call require(), which an ES module does not have by itself.
const REQUIRE =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

const folder = process.argv[2] ?? 'dist';
await rm(folder, { recursive: true, force: true });
await mkdir(folder);

const { outputFiles } = await build({
  entryPoints: { run: 'lib/main.ts' }, // loaded by main.js
  outdir: folder,
  bundle: true,
  splitting: true, // what is imported lazily costs no memory in the runs that do not need it
  format: 'esm',
  platform: 'node',
  target: 'node24',
  banner: { js: REQUIRE },
  // Names stay, for traces; what goes would be held in memory for as long as the program runs.
  minifyWhitespace: true,
  minifySyntax: true,
  plugins: [LEAVE_OUT],
  legalComments: 'linked',
  logLevel: 'warning',
  write: false,
});

for (const { path, contents } of outputFiles) {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, contents);
  console.log(`${relative('.', path)}  ${Math.ceil(contents.length / 1024)} KiB`);
}

// It is copied, not bundled: an old Node has to parse it to refuse the bundle.
const entry = join(folder, 'main.js');
await writeFile(entry, HASHBANG + (await readFile('lib/entry.js', 'utf8')));
await chmod(entry, 0o755);

// What the server sends to browsers, as it is: beside the bundle, as it lies beside its source.
for (const pages of ['lib/ui/page', 'lib/resource-metrics/ui/page', 'lib/autoscaler/ui/page'])
  await cp(pages, join(folder, 'page'), { recursive: true });
