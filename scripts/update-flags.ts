// Writes the tables of the reference pages: flags, triggers, values of the charts and series.
import { readFile, writeFile } from 'node:fs/promises';
import { formatAutoscalerFlagTables } from '#lib/autoscaler/options/autoscaler-options.ts';
import { formatFlagTables } from '#lib/resource-metrics/options.ts';
import { everyTrigger } from '#spec/support/every-trigger.ts';
import { shownSeries } from '#spec/support/shown-series.ts';
import { formatSeriesTable } from './format-series-table.ts';
import { formatTriggerTables } from './format-trigger-tables.ts';
import { formatValuesTable } from './format-values-table.ts';

const series = await shownSeries();

/** Generated content between the marks of each page. */
const PAGES: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'docs/reference/flags.md': { 'metrics-server': formatFlagTables, autoscaler: formatAutoscalerFlagTables },
  'docs/reference/triggers.md': { triggers: () => formatTriggerTables(everyTrigger()) },
  'docs/reference/values.md': {
    'metrics-server': () => formatValuesTable('metrics-server'),
    autoscaler: () => formatValuesTable('autoscaler'),
  },
  'docs/reference/series.md': {
    'metrics-server': () => formatSeriesTable(series.metricsServer),
    autoscaler: () => formatSeriesTable(series.autoscaler),
  },
};

for (const [path, tables] of Object.entries(PAGES)) {
  let page = await readFile(path, 'utf8');
  for (const [name, make] of Object.entries(tables)) {
    const marked = new RegExp(`(<!-- Made by \`make update\`: ${name}. -->\n)[^]*(<!-- End of ${name}. -->)`);
    if (!marked.test(page)) throw new Error(`Cannot update ${path}: marks of ${name} not found`);
    page = page.replace(marked, (_, start: string, end: string) => `${start}\n${make()}\n${end}`);
  }
  await writeFile(path, page);
}
