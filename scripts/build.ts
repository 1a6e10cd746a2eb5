// Bundles the server into dist/: the program the image runs, needing Node and nothing else.
import { chmod, cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, relative } from 'node:path';
import { build } from 'esbuild';
import { LEAVE_OUT } from './leave-out.ts';

const HASHBANG = '#!/usr/bin/env node\n';
// Bundled CommonJS packages call require(), which an ES module does not have by itself.
const REQUIRE =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

await rm('dist', { recursive: true, force: true });
await mkdir('dist');

const { outputFiles } = await build({
  entryPoints: ['lib/main.ts'],
  outdir: 'dist',
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
  const isEntry = basename(path) === 'main.js';
  await writeFile(path, isEntry ? Buffer.concat([Buffer.from(HASHBANG), contents]) : contents);
  if (isEntry) await chmod(path, 0o755);
  console.log(`${relative('.', path)}  ${Math.ceil(contents.length / 1024)} KiB`);
}

// What the server sends to browsers, as it is: beside the bundle, as it lies beside its source.
for (const folder of ['lib/ui/page', 'lib/resource-metrics/ui/page', 'lib/autoscaler/ui/page'])
  await cp(folder, 'dist/page', { recursive: true });
