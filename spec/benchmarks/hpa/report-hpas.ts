import { quantile } from '../quantile.ts';
import type { HpasResult } from './measure-hpas.ts';

/** Formats a result as Markdown. */
export function reportHpas({
  scenario,
  counts,
  lagSeconds: lag,
  reactionsMs,
  actingMs,
  ...result
}: HpasResult): string {
  const { hpas, podsPerHpa, namespaces, syncPeriodMs, wanderingPercent } = scenario;
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  const shares = (ascendingMs: readonly number[]) =>
    [0.5, 0.99, 1]
      .map((share, place) => `${['half', '99 %', 'all'][place]} ${seconds(quantile(ascendingMs, share))}`)
      .join(', ');
  const periods = counts.durationMs / syncPeriodMs;
  const perSecond = (count: number) => ((count * 1000) / counts.durationMs).toFixed(1);
  return [
    `## hpa: ${hpas} HPAs of ${podsPerHpa} pods each in ${namespaces} namespaces, every ${seconds(syncPeriodMs)}, usage of ${wanderingPercent} % changes`,
    '',
    `- start to each decided: ${seconds(result.startToDecidedMs)}`,
    `- decided late by: half ≤ ${lag.half} s, 99 % ≤ ${lag.p99} s, all ≤ ${lag.all} s; the oldest decision was ${seconds(result.oldestDecisionMs)} old`,
    `- CPU: ${result.millicores.toFixed(0)} millicores; ${result.scalingMillicores.toFixed(0)} while ${reactionsMs.length} were scaled; the simulated cluster's: ${((counts.cpuMs / counts.durationMs) * 1000).toFixed(0)}`,
    `- resident: ${mebibytes(result.residentBytes)}, at most ${mebibytes(result.peakResidentBytes)}`,
    `- lists of usage a namespace and period: ${(counts.usageLists / namespaces / periods).toFixed(2)}`,
    `- written in a second: ${perSecond(counts.statusWrites)} statuses, ${perSecond(counts.configMapWrites)} ConfigMaps; while scaling ${result.scalingCounts.configMapWrites} ConfigMaps for ${result.scalingCounts.scaleWrites} scales`,
    `- metric to scale: ${shares(reactionsMs)}; from the list that shows it: ${shares(actingMs)}; the simulated cluster was late by up to ${seconds(result.scalingCounts.maxDelayMs)}`,
  ].join('\n');
}
