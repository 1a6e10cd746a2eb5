import type { Explanation } from '#lib/hpa/decision/decision.ts';
import type { DifferingField } from './differing-fields.ts';
import type { RecordedCase, RecordedOutcome } from './recorded-case.ts';

/** A kind of case in which our decision deliberately differs from the recorded one. */
export interface DeliberateDifference {
  /** The name in the table of docs/explanation/hpa.md. */
  readonly name: string;
  /** Whether it is the reason for the difference of a field. */
  covers(field: DifferingField, of: ReplayedDifference): boolean;
}

export interface ReplayedDifference {
  readonly recorded: RecordedCase;
  readonly outcome: RecordedOutcome;
  readonly explanation: Explanation;
}

/** The result of a division by zero in Go on amd64, in thousandths. */
const SMALLEST = '-9223372036854775808m';
const MAX_REPLICAS = 2 ** 31 - 1;

/** All deliberate differences; any other is a fault. The last three are changes of Kubernetes between 1.34 and 1.36. */
export const DELIBERATE_DIFFERENCES: readonly DeliberateDifference[] = [
  {
    name: 'mean over no replicas',
    covers: (field, { recorded }) =>
      (/^status\.currentMetrics\.\d+\.(object|external)\.current\.averageValue$/.test(field.path) &&
        field.recorded === SMALLEST &&
        field.replayed === undefined) ||
      (field.path === 'statusWritten' && JSON.stringify(recorded.hpa.status).includes(SMALLEST)),
  },
  {
    name: 'more replicas than can be counted',
    covers: (_, { explanation }) =>
      refusals(explanation).some((why) => why.includes('more than the maximum')),
  },
  {
    name: 'quantities beyond 64 bits',
    covers: (_, { explanation }) => refusals(explanation).some((why) => why.includes('exceeds 64 bits')),
  },
  {
    name: 'no replicas and a minimum of 0',
    covers: (_, { recorded, explanation }) =>
      isLeftAtZero(recorded) &&
      explanation.step === 'switched-off' &&
      !recorded.expected.status.conditions?.some(({ reason }) => reason === 'ScalingDisabled'),
  },
  {
    name: 'condition of scaling to zero',
    covers: ({ path, recorded: before, replayed }, { recorded, outcome }) =>
      recorded.config.features?.scaleToZero === true &&
      outcome.desiredReplicas !== null &&
      /^status\.conditions\.\d+$/.test(path) &&
      before === undefined &&
      (replayed as { readonly type?: string }).type === 'ScaledToZero',
  },
  {
    name: 'more replicas than can be counted by a value',
    covers: (_, { recorded, explanation }) =>
      explanation.metrics.some(
        ({ proposal }) => proposal?.replicas === MAX_REPLICAS && proposal.readyPods !== undefined,
      ) && recorded.expected.historyAfter.recommendations?.some(({ replicas }) => replicas <= 0) === true,
  },
];

/** Finds the difference that explains a case; `undefined` if a field differs that none covers. */
export function deliberateDifference(
  fields: readonly DifferingField[],
  of: ReplayedDifference,
): string | undefined {
  const reasons = fields.map((field) => DELIBERATE_DIFFERENCES.find(({ covers }) => covers(field, of))?.name);
  return reasons.includes(undefined) ? undefined : reasons[0];
}

/** Whether Kubernetes since 1.36 leaves a target without replicas unchanged, while 1.34 read its metrics. */
function isLeftAtZero({ hpa, scale, config }: RecordedCase): boolean {
  const scaledToZero = hpa.status?.conditions?.find(({ type }) => type === 'ScaledToZero');
  const mayLeave = config.features?.scaleToZero === true && scaledToZero?.status === 'True';
  return scale.specReplicas === 0 && hpa.spec.minReplicas === 0 && !mayLeave;
}

function refusals({ metrics }: Explanation): string[] {
  return metrics.flatMap(({ failure }) => (failure?.isRefusal ? failure.message : []));
}
