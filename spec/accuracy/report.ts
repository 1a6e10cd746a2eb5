import { ABSENCES } from './absence.ts';
import { type Presence, VALUE_KINDS, type ValueKind } from './observer.ts';
import { OFFSETS, type Reaction, STEPS } from './reaction.ts';
import { type DayResult, RESOLUTION_MS } from './run-day.ts';
import type { EndpointKind } from './socketless-node.ts';

/** Reports a day, and the times of reactions, in tables as Markdown. */
export function reportAccuracy(day: DayResult, reactions: readonly Reaction[]): string {
  const { size, events, scrapes, errors, windows, worstAgeMs, onTimeWindowMs, faultCount, faults } = day;
  return `# Accuracy

\`make accuracy\` writes this page. This takes some minutes of CPU time, and the numbers are reproducible.

The server's own scraper, decoders, manager and sink, at the resolution of the manifests (${RESOLUTION_MS / 1000} s), read ${size.nodes} simulated nodes with
${size.podsPerNode} pods each for ${size.hours} simulated hours, on a simulated clock. Half of the kubelets serve
\`/stats/summary\`, half only \`/metrics/resource\`. Four fifths read their containers when they are requested, at a random moment of a response of
5 to 50 ms, as with a CRI runtime; a fifth samples them at intervals of 10 to 20 s, each of another length, as cAdvisor does. Every node is sampled
every 10.02 s. Each served value is checked twice per cycle. A CPU value is compared with the true usage between the two samples that
it was computed from, a memory value with the true usage at the later one.

## Outcome

${table(
  ['', 'Nodes', 'Pods'],
  [
    ['Checks of live objects', whole(day.nodes.lived), whole(day.pods.lived)],
    ['Served', percent(day.nodes.served / day.nodes.lived), percent(day.pods.served / day.pods.lived)],
    ['Served of what can be measured', share(day.nodes), share(day.pods)],
  ],
)}

- Wrong values (beyond what the precision of timestamps explains), expired values, windows that are too long, and objects missing without a reason: **${faultCount}**.
- The longest window of a container that is read on demand was ${(onTimeWindowMs / 1000).toFixed(1)} s, where no scrape was lost or took 2 s.
- The oldest served window had ended ${(worstAgeMs / 1000).toFixed(1)} s before it was checked.
- ${whole(scrapes.responded)} scrapes succeeded, and ${whole(scrapes.lost)} were lost.
${faults.map((fault) => `- ${fault}\n`).join('')}
## Error of CPU

The error is relative to the true mean between the two samples. Usage below one millicore counts as one millicore.

${table(
  ['', 'Values', 'Median', '99th percentile', 'Worst'],
  (Object.keys(VALUE_KINDS) as ValueKind[]).map((kind) => {
    const { count, median, p99, worst } = errors[kind];
    return [VALUE_KINDS[kind], whole(count), percent(median), percent(p99), percent(worst)];
  }),
)}

Timestamps of the summary are whole seconds, so the difference of two timestamps is up to a second off. For containers that are read on demand, the time
between the two requests is used instead. Its error is at most half of the two response times, so only kubelets that take seconds to respond have the error of the timestamps.
If a kubelet caches samples, its own rate shows the time between samples that are at most 19 s apart; beyond that, a second is up to 5%. The worst values are those of
containers that have just started: a second of 10 s. Timestamps of the exposition are in milliseconds, so their error is negligible.

## Length of windows

${table(
  ['', 'Median', '99th percentile', 'Longest'],
  (Object.keys(VALUE_KINDS) as ValueKind[]).map((kind) => {
    const { median, p99, worst } = windows[kind];
    return [VALUE_KINDS[kind], seconds(median), seconds(p99), seconds(worst)];
  }),
)}

A window is longer than a cycle after lost scrapes, and if a kubelet caches samples, which may be 20 s apart.

## From a step of load to a write of the scale

The HPA controller reads these metrics for ${STEPS} Deployments of one pod each. The load of each pod steps from the target of its HPA to four times the target, each in another second, at ${OFFSETS}
offsets between cycles and periods. The table has the time until the scale is first written, and until it has the four replicas that the load requires.

${table(
  [
    'Kubelet',
    'Resolution',
    'Period of the HPA',
    'First write, median',
    'Slowest',
    'Four replicas, median',
    'Slowest',
  ],
  reactions.map(({ runtime, endpoint, resolutionMs, periodSeconds, firstMs, fullMs }) => [
    `${runtime === 'cri' ? 'reads on demand' : 'samples every 10 to 20 s'}, \`${PATHS[endpoint]}\``,
    `${resolutionMs / 1000} s`,
    `${periodSeconds} s`,
    ...[firstMs.median, firstMs.worst, fullMs.median, fullMs.worst].map(seconds),
  ]),
)}

[How fast an HPA can be](../explanation/hpa-speed.md) explains the parts of these times.

## Limits

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

const PATHS: Readonly<Record<EndpointKind, string>> = {
  summary: '/stats/summary',
  resource: '/metrics/resource',
};

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

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function percent(fraction: number): string {
  const percents = 100 * fraction;
  if (percents === 0 || percents === 100) return `${percents}%`;
  return percents < 0.001 ? 'below 0.001%' : `${Number(percents.toPrecision(percents > 90 ? 4 : 2))}%`;
}
