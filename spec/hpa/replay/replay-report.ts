import { defaultedSpec } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { deliberateDifference } from './deliberate-differences.ts';
import { type DifferingField, differingFields } from './differing-fields.ts';
import type { LocatedCase } from './read-cases.ts';
import { replayCase } from './replay-case.ts';

/** Result of replaying a file. */
export interface ReplayReport {
  readonly agreeing: number;
  readonly differing: readonly DifferingCase[];
}

export interface DifferingCase {
  readonly id: string;
  readonly fields: readonly DifferingField[];
  /** The deliberate difference that explains it. */
  readonly deliberate: string | undefined;
}

/**
 * Replays cases and compares every recorded field.
 *
 * @throws {Error} with the name of a case that cannot be replayed
 */
export function replayAll(cases: readonly LocatedCase[]): ReplayReport {
  const differing = cases.flatMap((recorded) => differingCase(recorded) ?? []);
  return { agreeing: cases.length - differing.length, differing };
}

/** Formats unintended differences, a line of totals, and the differing cases. */
export function formatReport({ agreeing, differing }: ReplayReport): string {
  const mistakes = differing.filter(({ deliberate }) => deliberate === undefined);
  return [
    ...mistakes.flatMap(({ id, fields }) => [`${id}:`, ...fields.map(formatField)]),
    `${agreeing} agree, ${differing.length} differ`,
    ...differing.map(({ id, deliberate }) => (deliberate === undefined ? id : `${id} (${deliberate})`)),
  ].join('\n');
}

function differingCase({ recorded, place }: LocatedCase): DifferingCase | undefined {
  const { outcome, explanation } = replayed(recorded, place);
  const { spec, submittedSpec } = recorded.hpa;
  const fields = [
    ...differingFields(recorded.expected, outcome),
    ...(submittedSpec ? differingFields(spec, defaultedSpec(submittedSpec), 'spec') : []),
  ];
  if (fields.length === 0) return undefined;
  const deliberate = deliberateDifference(fields, { recorded, outcome, explanation });
  return { id: recorded.id, fields, deliberate };
}

function replayed(recorded: LocatedCase['recorded'], place: string): ReturnType<typeof replayCase> {
  try {
    return replayCase(recorded);
  } catch (cause) {
    const why = (cause as Error).message;
    throw new Error(`${place}, ${recorded.id}: ${why}`, { cause });
  }
}

function formatField({ path, recorded, replayed }: DifferingField): string {
  return `  ${path}: recorded ${JSON.stringify(recorded)}, replayed ${JSON.stringify(replayed)}`;
}
