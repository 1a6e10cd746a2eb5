import type { Explanation } from '#lib/hpa/explanation.ts';
import type { DifferingField } from './differing-fields.ts';
import type { RecordedCase } from './recorded-case.ts';

/** A kind of case in which we do not decide as the recorded controller did, and mean it. */
export interface DeliberateDifference {
  /** As the table in docs/hpa.md has it. */
  readonly name: string;
  /** Whether this is what the fields differ by. */
  covers(differing: readonly DifferingField[], of: ReplayedDifference): boolean;
}

export interface ReplayedDifference {
  readonly recorded: RecordedCase;
  readonly explanation: Explanation;
}

/** What Go on amd64 makes of a division by zero, in thousandths. */
const SMALLEST = '-9223372036854775808m';

/** All of them; whatever else differs is a mistake. */
export const DELIBERATE_DIFFERENCES: readonly DeliberateDifference[] = [
  {
    name: 'mean over no replicas',
    covers: (differing, { recorded }) =>
      differing.every(
        (field) =>
          (/^status\.currentMetrics\.\d+\.(object|external)\.current\.averageValue$/.test(field.path) &&
            field.recorded === SMALLEST &&
            field.replayed === undefined) ||
          (field.path === 'statusWritten' && JSON.stringify(recorded.hpa.status).includes(SMALLEST)),
      ),
  },
  {
    name: 'more replicas than can be counted',
    covers: (_, { explanation }) =>
      refusals(explanation).some((why) => why.includes('a replica count ends at')),
  },
  {
    name: 'quantities beyond 64 bits',
    covers: (_, { explanation }) => refusals(explanation).some((why) => why.includes('than 64 bits count')),
  },
];

function refusals({ metrics }: Explanation): string[] {
  return metrics.flatMap(({ failure }) => (failure?.isRefusal ? failure.message : []));
}
