import type { MinimumChange } from './judge-week.ts';

/** Tells a change of a minimum: from, to, the metric, the peaks of the days and how heavily they count. */
export function changeMessage({ from, to, metric, peaks, weights, mean, target }: MinimumChange): string {
  const days = peaks.map((peak) => (peak === undefined ? '-' : numberText(peak))).join(' ');
  return (
    `minReplicas from ${from} to ${to}: the peaks of ${metric} in the last ${peaks.length} days, the latest first, were ` +
    `${days} (weights ${weights.join(' ')}), ${numberText(mean)} in the mean of a target of ${numberText(target)}`
  );
}

function numberText(value: number): string {
  return `${Number(value.toPrecision(3))}`;
}
