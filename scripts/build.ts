// Bundles the server into dist/, or another folder: node scripts/build.ts [FOLDER]. The image runs the bundle, which
// requires only Node.
import { chmod, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { build } from 'esbuild';
import { BUNDLE_OPTIONS } from './bundle-options.ts';

const HASHBANG = '#!/usr/bin/env node\n';

const folder = process.argv[2] ?? 'dist';
await rm(folder, { recursive: true, force: true });
await mkdir(folder);

const { outputFiles } = await build({
  ...BUNDLE_OPTIONS,
  entryPoints: { run: 'lib/main.ts' }, // loaded by main.js
  outdir: folder,
  // Names remain, for traces; removed code would otherwise stay in memory while the program runs.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'linked',
  logLevel: 'warning',
  write: false,
});

for (const { path, contents } of outputFiles) {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, contents);
  console.log(`${relative('.', path)}  ${Math.ceil(contents.length / 1024)} KiB`);
}

// Copied, not bundled: an old Node must be able to parse it to refuse the bundle.
const entry = join(folder, 'main.js');
await writeFile(entry, HASHBANG + (await readFile('lib/entry.js', 'utf8')));
await chmod(entry, 0o755);

// Files that the server sends to browsers unchanged: beside the bundle, as they are beside its source.
for (const pages of ['lib/ui/page', 'lib/resource-metrics/page'])
  await cp(pages, join(folder, 'page'), { recursive: true });
