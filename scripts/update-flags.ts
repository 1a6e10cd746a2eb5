// Brings the tables of docs/flags.md up to date with the flags of each command.
import { readFile, writeFile } from 'node:fs/promises';
import { formatAutoscalerFlagTables } from '#lib/autoscaler/options.ts';
import { formatFlagTables } from '#lib/resource-metrics/options.ts';

/** What stands between the marks of each command. */
const TABLES: Readonly<Record<string, () => string>> = {
  'metrics-server': formatFlagTables,
  autoscaler: formatAutoscalerFlagTables,
};

let page = await readFile('docs/flags.md', 'utf8');
for (const [command, tables] of Object.entries(TABLES)) {
  const marked = new RegExp(
    `(<!-- Made by \`make update\`: ${command}. -->\n)[^]*(<!-- End of ${command}. -->)`,
  );
  if (!marked.test(page)) throw new Error(`Cannot update docs/flags.md: the marks of ${command} are gone`);
  page = page.replace(marked, (_, start: string, end: string) => `${start}\n${tables()}\n${end}`);
}
await writeFile('docs/flags.md', page);
