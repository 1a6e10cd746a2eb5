// Brings the README's tables of flags up to date with the options.
import { readFile, writeFile } from 'node:fs/promises';
import { formatFlagTables } from '#lib/resource-metrics/options.ts';

const MARKED = /(<!-- Made by `make update`. -->\n)[\s\S]*(<!-- End of what is made. -->)/;

const readme = await readFile('README.md', 'utf8');
if (!MARKED.test(readme)) throw new Error('Cannot update README.md: the marks around the flags are gone');
await writeFile(
  'README.md',
  readme.replace(MARKED, (_, start: string, end: string) => `${start}\n${formatFlagTables()}\n${end}`),
);
