import { ABSENCES } from './absence.ts';
import { type Presence, VALUE_KINDS, type ValueKind } from './observer.ts';
import type { DayResult } from './run-day.ts';

/** A day in tables, as Markdown. */
export function reportDay(day: DayResult): string {
  const { size, events, scrapes, errors, worstAgeMs, faultCount, faults } = day;
  return `# How true the numbers are

Made by \`make accuracy\`, which takes some minutes of CPU time; the numbers are the same every time.

The server's own scraper, decoders, manager and sink, at their defaults (a resolution of 60 s), read ${size.nodes} simulated nodes with
${size.podsPerNode} pods each for ${size.hours} simulated hours, on a clock that only the simulation moves. Half of the kubelets respond
\`/stats/summary\`, half only \`/metrics/resource\`; a fifth samples its containers every 10 to 20 s, as cAdvisor does. Twice in every cycle,
everything that is served is looked at. A CPU value is compared with what the container or node really used
from the beginning of the value's window to its end, by the clock of its kubelet; a memory value with what was really held at its timestamp.

## Outcome

${table(
  ['', 'Nodes', 'Pods'],
  [
    ['Looks at what lived', whole(day.nodes.lived), whole(day.pods.lived)],
    ['Served', percent(day.nodes.served / day.nodes.lived), percent(day.pods.served / day.pods.lived)],
    ['Served of what should be', share(day.nodes), share(day.pods)],
  ],
)}

- Values that could not have been measured over their window, nor by stamps as coarse as theirs, memory that was not held,
  values kept beyond their time, and things missing without a reason: **${faultCount}**.
- The oldest window had ended ${(worstAgeMs / 1000).toFixed(1)} s before somebody looked.
- ${whole(scrapes.responded)} scrapes succeeded and ${whole(scrapes.lost)} lost.
${faults.map((fault) => `- ${fault}\n`).join('')}
## Error of CPU

Relative to the true mean over the value's window; what uses less than a millicore counts as using one.

${table(
  ['', 'Values', 'Median', '99 of 100 below', 'Worst'],
  (Object.keys(VALUE_KINDS) as ValueKind[]).map((kind) => {
    const { count, median, p99, worst } = errors[kind];
    return [VALUE_KINDS[kind], whole(count), percent(median), percent(p99), percent(worst)];
  }),
)}

The summary stamps its readings in whole seconds, so each end of a window may lie up to a second later than it says. Over 60 s
that makes up to 1.7% of a steady load, over the 10 s of a container that has just started up to 10%; and of a load that
jumps a hundredfold within such a second, the window shows what it does not cover. That is where the worst comes from: it is within
what the stamps allow, as every value is that counts as none of the faults above. The exposition's milliseconds leave nothing worth a name.

A step of the kubelet's clock by no more than samples are old cannot be told from their age, and shows until both readings are from after
it. Where a kubelet tells no UIDs and responses slowly, another pod may have taken a name before the response about its predecessor
comes in: that pod is then served with its predecessor's values for one cycle.

## Why what lives is not served

Counted at every look.

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

/** Of what nothing excuses, how much is served. */
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
