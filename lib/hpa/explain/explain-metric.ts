import { formatDuration } from '#lib/time/duration.ts';
import type { ExplainedProposal, MetricExplanation } from '../decision/decision.ts';
import type { LeftOutPods, ProposalReason } from '../decision/replica-calculator.ts';
import { metricThresholds } from './metric-thresholds.ts';

/** Tells what one metric contributed to a decision, one line and details below it. */
export function explainMetric(
  metric: MetricExplanation,
  { atMs, isLeading }: { readonly atMs: number; readonly isLeading: boolean },
): string[] {
  const { name, failure, proposal, takenAtMs } = metric;
  if (failure) return [`${name}: unknown: ${failure.message}`];
  if (!proposal) return [];
  const age = takenAtMs === undefined ? '' : `, ${formatDuration(Math.max(0, atMs - takenAtMs))} old`;
  const leads = isLeading ? ', which leads' : '';
  return [
    `${name}: ${currentText(metric)} of ${targetText(metric)}${age}: asks for ${proposal.replicas}${leads}`,
    `  ratio ${ratioText(proposal.ratio)}: ${WHY[proposal.why]}`,
    ...podLines(proposal),
    ...thresholdLines(metric),
  ];
}

const WHY: Readonly<Record<ProposalReason, string>> = {
  'off-target': 'outside of the tolerance',
  'within-tolerance': 'within the tolerance, so it stays',
  'direction-uncertain': 'with what is assumed of other pods it would scale the other way, so it stays',
  'count-uncertain': 'as many pods as count would mean scaling the other way, so it stays',
};

function currentText({ current }: MetricExplanation): string {
  const amount = current?.value ?? current?.averageValue ?? 'no mean';
  return current?.averageUtilization === undefined ? amount : `${current.averageUtilization}% (${amount})`;
}

function targetText({ target }: MetricExplanation): string {
  if (target?.averageValue !== undefined) return `${target.averageValue} for each replica`;
  if (target?.averageUtilization !== undefined) return `${target.averageUtilization}%`;
  return target?.value ?? '';
}

function podLines({ pods, readyPods }: ExplainedProposal): string[] {
  if (readyPods !== undefined) return [`  times ${readyPods} ready pods`];
  if (!pods) return [];
  const { counted, unknown, unready, missing, ignored, assumedRatio } = pods;
  const left = [
    leftOutText('not ready', unready),
    leftOutText('without a sample', missing),
    leftOutText('deleted or failed', ignored),
    unknown > 0 ? `${unknown} samples of pods that are not known` : undefined,
  ].filter((part) => part !== undefined);
  const others = left.length === 0 ? '' : `; besides ${left.join('; ')}`;
  return [
    `  counts ${counted} pods${others}`,
    ...(assumedRatio === undefined
      ? []
      : [`  ratio ${ratioText(assumedRatio)} with what is assumed of those that are missing or not ready`]),
  ];
}

function leftOutText(why: string, { count, names }: LeftOutPods): string | undefined {
  if (count === 0) return undefined;
  const more = count > names.length ? ` and ${count - names.length} more` : '';
  return `${count} ${why} (${names.join(', ')}${more})`;
}

function thresholdLines(metric: MetricExplanation): string[] {
  const thresholds = metricThresholds(metric);
  if (!thresholds) return [];
  return [`  scales up above ${thresholds.scalesUpAbove}, down below ${thresholds.scalesDownBelow}`];
}

function ratioText(ratio: number): string {
  return `${Math.round(ratio * 1000) / 1000}`;
}
