import { type RunningServer, runServer } from './running-server.ts';
import { twoCycles } from './two-cycles.ts';

/** What a server exposes at `/metrics` after two cycles, in which one of two kubelets failed. */
export async function servedSeries(): Promise<string> {
  const nodeOverrides = { 'node-2': { faults: ['refuse' as const] } };
  await using server: RunningServer = await runServer({ nodes: 2, podsPerNode: 2, nodeOverrides });
  await twoCycles(server, 1);
  return (await server.get('/metrics')).body;
}

/** The names of series that queries may use, from Prometheus' text format: a histogram has three. */
export function seriesNames(exposition: string): ReadonlySet<string> {
  const names = new Set(['up']); // Prometheus' own
  for (const [, name = '', type] of exposition.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    if (type === 'histogram') for (const part of ['bucket', 'sum', 'count']) names.add(`${name}_${part}`);
    else names.add(name);
  }
  return names;
}

/** The names of series in a PromQL expression: what is no function, keyword or label. */
export function seriesIn(expression: string): readonly string[] {
  const bare = expression
    .replaceAll(/"[^"]*"/g, '') // label values
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\b(by|without|on|ignoring)\s*\([^)]*\)/g, '');
  return [...bare.matchAll(/[a-zA-Z_:][a-zA-Z0-9_:]*/g)]
    .filter(({ 0: word, index }) => !/^\s*\(/.test(bare.slice(index + word.length)))
    .map(([word]) => word)
    .filter((word) => !['and', 'or', 'unless', 'sum', 'max', 'min', 'topk'].includes(word));
}
