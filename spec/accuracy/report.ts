import { ABSENCES } from './absence.ts';
import { type Presence, VALUE_KINDS, type ValueKind } from './observer.ts';
import type { DayResult } from './run-day.ts';

/** Reports a day in tables, as Markdown. */
export function reportDay(day: DayResult): string {
  const { size, events, scrapes, errors, worstAgeMs, faultCount, faults } = day;
  return `# Accuracy

\`make accuracy\` writes this page. This takes some minutes of CPU time, and the numbers are reproducible.

The server's own scraper, decoders, manager and sink, at their defaults (a resolution of 60 s), read ${size.nodes} simulated nodes with
${size.podsPerNode} pods each for ${size.hours} simulated hours, on a simulated clock. Half of the kubelets serve
\`/stats/summary\`, half only \`/metrics/resource\`; a fifth of them sample their containers every 10 to 20 s, as cAdvisor does. Each served value is checked twice
per cycle. A CPU value is compared with the true usage of the container or node over the window of the value, by the clock of the kubelet. A memory
value is compared with the true usage at its timestamp.

## Outcome

${table(
  ['', 'Nodes', 'Pods'],
  [
    ['Checks of live objects', whole(day.nodes.lived), whole(day.pods.lived)],
    ['Served', percent(day.nodes.served / day.nodes.lived), percent(day.pods.served / day.pods.lived)],
    ['Served of what can be measured', share(day.nodes), share(day.pods)],
  ],
)}

- Wrong values (beyond what the precision of timestamps explains), expired values, and objects missing without a reason: **${faultCount}**.
- The oldest served window had ended ${(worstAgeMs / 1000).toFixed(1)} s before it was checked.
- ${whole(scrapes.responded)} scrapes succeeded, and ${whole(scrapes.lost)} were lost.
${faults.map((fault) => `- ${fault}\n`).join('')}
## Error of CPU

The error is relative to the true mean over the window of the value. Usage below one millicore counts as one millicore.

${table(
  ['', 'Values', 'Median', '99th percentile', 'Worst'],
  (Object.keys(VALUE_KINDS) as ValueKind[]).map((kind) => {
    const { count, median, p99, worst } = errors[kind];
    return [VALUE_KINDS[kind], whole(count), percent(median), percent(p99), percent(worst)];
  }),
)}

Timestamps of the summary are whole seconds, so each end of a window may be up to a second later than its timestamp. If the load is steady, this is an error
of up to 1.7% over 60 s, and up to 10% over the 10 s of a container that has just started. If the load changes a hundredfold within such a second, the error
is as large as the worst values above. Timestamps of the exposition are in milliseconds, so their error is negligible.

A small step of the kubelet's clock cannot be distinguished from the age of samples. It affects values until both readings are later than the step. If a
kubelet reports no UIDs and responds slowly, a pod can replace another pod of the same name before the response arrives. The new pod is then served with the
values of the old one for one cycle.

## Why live objects are not served

The numbers count checks.

${table(
  ['', 'Nodes', 'Pods'],
  Object.entries(ABSENCES).map(([absence, why]) => [
    why,
    whole(countOf(day.nodes, absence)),
    whole(countOf(day.pods, absence)),
  ]),
)}

## What happened

${table(
  ['', 'Times'],
  [...events].map(([what, count]) => [what, whole(count)]),
)}
`;
}

/** The served share of what has no legitimate reason to be absent. */
function share(presence: Presence): string {
  const missing = countOf(presence, 'unexplained');
  return percent(presence.served / (presence.served + missing));
}

function countOf({ absences }: Presence, absence: string): number {
  return absences.find(([what]) => what === absence)?.[1] ?? 0;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, index) => (index === 0 ? '---' : '---:'));
  return [head, rule, ...rows].map(line).join('\n');
}

function whole(count: number): string {
  return count.toLocaleString('en-US');
}

function percent(fraction: number): string {
  const percents = 100 * fraction;
  if (percents === 0 || percents === 100) return `${percents}%`;
  return percents < 0.001 ? 'below 0.001%' : `${Number(percents.toPrecision(percents > 90 ? 4 : 2))}%`;
}
