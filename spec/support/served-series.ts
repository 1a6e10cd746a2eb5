import { type RunningServer, runServer } from './running-server.ts';
import { twoCycles } from './two-cycles.ts';

/** The `/metrics` of a server after two cycles in which one of two kubelets failed. */
export async function servedSeries(): Promise<string> {
  const nodeOverrides = { 'node-2': { faults: ['refuse' as const] } };
  await using server: RunningServer = await runServer({ nodes: 2, podsPerNode: 2, nodeOverrides });
  await twoCycles(server, 1);
  return (await server.get('/metrics')).body;
}

/** The series names that queries may use, from Prometheus' text format: a histogram has three. */
export function seriesNames(exposition: string): ReadonlySet<string> {
  const names = new Set(['up']); // Prometheus' own
  for (const [, name = '', type] of exposition.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    if (type === 'histogram') for (const part of ['bucket', 'sum', 'count']) names.add(`${name}_${part}`);
    else names.add(name);
  }
  return names;
}

/** Labels that Prometheus adds for the scraped target; in a histogram, `le` is the bucket's. */
const LABELS_OF_TARGETS = ['job', 'namespace', 'pod', 'instance', 'le'];

/**
 * The label conditions of a PromQL expression that no series of an exposition satisfies: matchers such as
 * `requests_total{success="no"}`, and the labels of `by (…)`.
 */
export function unmetLabels(expression: string, exposition: string): readonly string[] {
  const unmet: string[] = [];
  for (const [, name = '', matchers = ''] of expression.matchAll(/(\w+)\{([^}]*)\}/g)) {
    for (const [matcher, label = '', value = ''] of matchers.matchAll(/(\w+)="([^"]*)"/g)) {
      const sample = new RegExp(`^${name}\\{(.*,)?${label}="${value}"`, 'm');
      if (!LABELS_OF_TARGETS.includes(label) && !sample.test(exposition)) unmet.push(`${name}{${matcher}}`);
    }
  }
  for (const [grouping, labels = ''] of expression.matchAll(/\bby\s*\(([^)]*)\)/g)) {
    for (const label of labels.split(',').map((one) => one.trim())) {
      const isReported = seriesIn(expression).every((name) =>
        new RegExp(`^${name}\\{(.*,)?${label}="`, 'm').test(exposition),
      );
      if (!LABELS_OF_TARGETS.includes(label) && !isReported) unmet.push(grouping);
    }
  }
  return unmet;
}

/** The series names in a PromQL expression: names that are not functions, keywords or labels. */
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
