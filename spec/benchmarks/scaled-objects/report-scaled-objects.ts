import type { LoadResult } from '../load/generate-load.ts';
import { quantile } from '../quantile.ts';
import type { QueueRequests } from './filled-queues.ts';
import type { ScaledObjectsResult } from './measure-scaled-objects.ts';

/** Formats a result as Markdown. */
export function reportScaledObjects(result: ScaledObjectsResult): string {
  const { scenario, polls, external, bare, counts, hanging } = result;
  const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;
  const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  const lateness = ({ deviationsMs }: QueueRequests) =>
    `half ${quantile(deviationsMs, 0.5).toFixed(0)} ms, 99 % ${quantile(deviationsMs, 0.99).toFixed(0)} ms, all ${quantile(deviationsMs, 1).toFixed(0)} ms`;
  const spread = (ms: readonly number[]) =>
    `half ${seconds(quantile(ms, 0.5))}, 99 % ${seconds(quantile(ms, 0.99))}, all ${seconds(quantile(ms, 1))}`;
  const latencies = ({ medianMs, p99Ms, maxMs }: LoadResult) =>
    `half ${medianMs.toFixed(2)} ms, 99 % ${p99Ms.toFixed(2)} ms, all ${maxMs.toFixed(2)} ms`;
  const perSecond = (count: number) => ((count * 1000) / scenario.pollMs).toFixed(1);
  return [
    `## scaled-objects: ${scenario.objects} ScaledObjects of two triggers in ${scenario.namespaces} namespaces, every ${seconds(scenario.pollingMs)}, ${scenario.busyPercent} % with replicas, ${scenario.pushed} pushed`,
    '',
    `- start to each ready: ${seconds(result.startToReadyMs)}`,
    `- CPU: ${result.millicores.toFixed(0)} millicores; the simulated cluster's: ${result.clusterMillicores.toFixed(0)}`,
    `- resident: ${mebibytes(result.residentBytes)}, at most ${mebibytes(result.peakResidentBytes)}`,
    `- ${perSecond(polls.requests)} requests a second for ${polls.distinctQueries} queries by HTTP of ${2 * scenario.objects - scenario.pushed} triggers`,
    `- written in a second: ${perSecond(counts.statusWrites)} ScaledObjects, ${perSecond(counts.hpaWrites)} HPAs`,
    `- polls came off their time by: ${lateness(polls)}, of which the queues themselves were held up ${counts.maxStallMs.toFixed(0)} ms at most; while a broker hangs: ${lateness(hanging)}`,
    `- external metrics as often as HPAs ask (${external.requestsPerSecond.toFixed(0)}/s): ${latencies(external)}; ${result.externalMillicores.toFixed(0)} millicores with polling; bare koa meanwhile: ${latencies(bare)}`,
    `- first message to scale, ${result.reactionsMs.length}, while a broker hangs: ${spread(result.reactionsMs)}; ${result.pushReactionsMs.length} pushed: ${spread(result.pushReactionsMs)}`,
  ].join('\n');
}
