import { formatThousandths, parseThousandths } from '#lib/kubernetes/quantity.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { Explanation } from '../decision/decision.ts';
import type { ExplainedProposal, MetricExplanation } from '../decision/evaluate-metrics.ts';
import type { LeftOutPods, ProposalReason } from '../decision/replica-calculator.ts';

/**
 * Explains a decision as text: values, proposals, stabilization, policies and bounds. One line per step, details indented.
 *
 * @param options.isHypothetical whether the decision is not applied
 */
export function explainDecision(
  explanation: Explanation,
  { isHypothetical = false }: { readonly isHypothetical?: boolean } = {},
): string {
  const { metrics, atMs, leadingMetric } = explanation;
  return [
    headline(explanation, isHypothetical ? 'would scale to' : 'scales to'),
    ...metrics.flatMap((metric, index) =>
      explainMetric(metric, { atMs, isLeading: index === leadingMetric }),
    ),
    ...stabilizationLines(explanation),
    ...limitLines(explanation),
    ...problemLines(explanation),
  ].join('\n');
}

/** The problem, unless the line of a failed metric has its cause; then, what the failure has prevented. */
function problemLines({ problem, metrics, step }: Explanation): string[] {
  if (problem === undefined) return [];
  const failures = metrics.flatMap(({ failure }) => failure ?? []);
  if (!failures.some(({ error }) => problem.includes(error))) return [`problem: ${problem}`];
  if (step === 'metrics')
    return [
      `note: ${failures.length} of ${metrics.length} metrics failed; meanwhile, the HPA scales up, but not down`,
    ];
  if (failures.length === metrics.length) return [];
  return ['note: the other metrics propose fewer replicas; the HPA does not scale down while a metric fails'];
}

function headline(
  { step, currentReplicas, minReplicas, maxReplicas, desiredReplicas }: Explanation,
  scales: string,
): string {
  const bounds = `bounds ${minReplicas} to ${maxReplicas}`;
  if (currentReplicas === undefined) return `scale of the target unknown; ${bounds}`;
  const now = `${currentReplicas} ${currentReplicas === 1 ? 'replica' : 'replicas'}, ${bounds}`;
  switch (step) {
    case 'switched-off':
      return `${now}: disabled, because the target has no replicas`;
    case 'above-max':
      return `${now}: ${scales} ${desiredReplicas}, the maximum, without evaluating metrics`;
    case 'below-min':
      return `${now}: ${scales} ${desiredReplicas}, the minimum, without evaluating metrics`;
    case 'omitted-spec':
      return `${now}: stays, because the spec of the HPA is too large`;
    case 'unclear-pods':
      return `${now}: stays, because the pods of the target cannot be determined`;
    case 'metrics-missing':
      return `${now}: stays, because metrics are missing`;
    default:
      return desiredReplicas === currentReplicas ? `${now}: stays` : `${now}: ${scales} ${desiredReplicas}`;
  }
}

function stabilizationLines({ stabilization, atMs }: Explanation): string[] {
  if (!stabilization) return [];
  const { proposed, replicas, stabilizedBy, scaleUpWindowMs, scaleDownWindowMs } = stabilization;
  const windows = `windows: up ${formatDuration(scaleUpWindowMs)}, down ${formatDuration(scaleDownWindowMs)}`;
  if (!stabilizedBy) return [`stabilization: ${replicas}, as proposed (${windows})`];
  const ago = formatDuration(Math.max(0, atMs - stabilizedBy.atMs));
  return [
    `stabilization: ${replicas} instead of ${proposed}, because ${stabilizedBy.replicas} was recommended ${ago} ago (${windows})`,
  ];
}

function limitLines({ limit, stabilization, currentReplicas }: Explanation): string[] {
  if (!limit) return [];
  const { replicas, reason, message, policies = [], scaleDownLimit } = limit;
  const recommended = stabilization?.replicas;
  const isLimited = replicas !== recommended;
  return [
    isLimited
      ? `limits: ${replicas} instead of ${recommended}: ${reason}, ${message}`
      : `limits: ${replicas}, within the limits`,
    ...policies.map(
      (policy) =>
        `  policy ${policy.type} ${policy.value} in ${policy.periodSeconds}s: from ${policy.periodStartReplicas} at the start of the period to ${policy.replicas}`,
    ),
    ...(scaleDownLimit
      ? [
          `  --scale-down-limit-factor ${scaleDownLimit.factor}, --scale-down-limit-minimum ${scaleDownLimit.minimum}: from ${currentReplicas} to ${scaleDownLimit.replicas} at least`,
        ]
      : []),
  ];
}

/** Explains what one metric contributed, in one line and details below it. */
export function explainMetric(
  metric: MetricExplanation,
  { atMs, isLeading }: { readonly atMs: number; readonly isLeading: boolean },
): string[] {
  const { name, failure, proposal, takenAtMs } = metric;
  if (failure) {
    const { message } = failure;
    return [`${name}: ${message.startsWith('failed to ') ? message : `failed: ${message}`}`];
  }
  if (!proposal) return [];
  const age = takenAtMs === undefined ? '' : `, ${formatDuration(Math.max(0, atMs - takenAtMs))} old`;
  const leads = isLeading ? ', the highest' : '';
  return [
    `${name}: ${currentText(metric)} of ${targetText(metric)}${age}: proposes ${proposal.replicas}${leads}`,
    `  ratio ${ratioText(proposal.ratio)}: ${WHY[proposal.why]}`,
    ...podLines(proposal),
    ...thresholdLines(metric),
  ];
}

const WHY: Readonly<Record<ProposalReason, string>> = {
  'off-target': 'outside the tolerance',
  'within-tolerance': 'within the tolerance, no change',
  'direction-uncertain':
    'no change, because with assumed values of the other pods the HPA would scale in the other direction',
  'count-uncertain':
    'no change, because the ratio times the number of counted pods would scale in the other direction',
};

/** Formats the current value of a metric: `45% (360m)`, `12`. */
export function currentText({ current }: MetricExplanation): string {
  const amount = current?.value ?? current?.averageValue ?? 'no average';
  return current?.averageUtilization === undefined ? amount : `${current.averageUtilization}% (${amount})`;
}

/** Formats the target of a metric: `80%`, `10 per replica`, `30`. */
export function targetText({ target }: MetricExplanation): string {
  if (target?.averageValue !== undefined) return `${target.averageValue} per replica`;
  if (target?.averageUtilization !== undefined) return `${target.averageUtilization}%`;
  return target?.value ?? '';
}

function podLines({ pods, readyPods }: ExplainedProposal): string[] {
  if (readyPods !== undefined) return [`  times ${readyPods} ready ${readyPods === 1 ? 'pod' : 'pods'}`];
  if (!pods) return [];
  const { counted, unknown, unready, missing, ignored, assumedRatio } = pods;
  const left = [
    leftOutText('not ready', unready),
    leftOutText('without a sample', missing),
    leftOutText('deleted or failed', ignored),
    unknown > 0 ? `${unknown} samples of unknown pods` : undefined,
  ].filter((part) => part !== undefined);
  const others = left.length === 0 ? '' : `; excludes ${left.join('; ')}`;
  return [
    `  counts ${counted} ${counted === 1 ? 'pod' : 'pods'}${others}`,
    ...(assumedRatio === undefined
      ? []
      : [`  ratio ${ratioText(assumedRatio)} with assumed values of missing and unready pods`]),
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

/** The values beyond which a metric would propose other replicas. */
interface MetricThresholds {
  /** Percent, or a quantity as in the target. */
  readonly scalesUpAbove: string;
  readonly scalesDownBelow: string;
}

/** Computes the ends of the tolerance; values that are no average are of the metric itself. */
export function metricThresholds({ target, proposal }: MetricExplanation): MetricThresholds | undefined {
  if (!target || !proposal) return undefined;
  const { scaleUp, scaleDown } = proposal.tolerances;
  const { averageUtilization } = target;
  const amount = target.averageValue ?? target.value;
  if (amount !== undefined) {
    const thousandths = Number(parseThousandths(amount));
    const max = BigInt(Math.floor(thousandths * (1 + scaleUp)));
    const min = BigInt(Math.ceil(Math.max(0, thousandths * (1 - scaleDown))));
    return { scalesUpAbove: formatThousandths(max), scalesDownBelow: formatThousandths(min) };
  }
  if (averageUtilization === undefined) return undefined;
  return {
    scalesUpAbove: `${Math.floor(averageUtilization * (1 + scaleUp) + PRECISION)}%`,
    scalesDownBelow: `${Math.ceil(Math.max(0, averageUtilization * (1 - scaleDown)) - PRECISION)}%`,
  };
}

/** Rounding error of floating-point products. */
const PRECISION = 1e-9;
