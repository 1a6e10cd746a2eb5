import { objectTime } from '#lib/control/status/conditions.ts';
import type { Explanation } from '../decision/decision.ts';
import { explainDecision } from '../explain/explain-decision.ts';
import { type HpaDecisions, type LoggedDecision, shortened } from '../observability/decision-log.ts';

/** Selectors, and what servers say, may be as long as an object. */
const LONGEST_LINE = 1000;
/** An HPA may have as many metrics as fit into an object. */
const MOST_LINES = 200;

/**
 * Why an HPA has as many replicas as it has, for people.
 *
 * @param minimum what is said of its minReplicas by the week
 */
export function hpaText(
  { namespace, name, explanation, other, decisions, problem }: HpaDecisions,
  minimum: string | undefined,
): string {
  return [
    `HorizontalPodAutoscaler ${namespace}/${name}`,
    ...(other ? [`left alone, for "${other.manager}" acted on it at ${objectTime(other.writtenAtMs)}`] : []),
    ...(explanation
      ? [
          `decided at ${objectTime(explanation.atMs)}`,
          ...calculation(explanation, decisions.at(-1)?.agrees !== undefined),
        ]
      : []),
    ...(problem === undefined ? [] : [`not heeded: ${problem}`]),
    ...(minimum === undefined ? [] : [`minReplicas by the week: ${minimum}`]),
    '',
    `the last ${decisions.length} decisions, the latest first:`,
    ...decisions.toReversed().map(decisionLine),
  ].join('\n');
}

function calculation(explanation: Explanation, isHypothetical: boolean): readonly string[] {
  const lines = explainDecision(explanation, { isHypothetical })
    .split('\n')
    .map((line) => shortened(line, LONGEST_LINE));
  if (lines.length <= MOST_LINES) return lines;
  const half = MOST_LINES / 2; // what came of it is at the end
  return [
    ...lines.slice(0, half),
    `… ${lines.length - MOST_LINES} more lines; as JSON there are all …`,
    ...lines.slice(-half),
  ];
}

/** One decision on a line. */
export function decisionLine(decision: LoggedDecision): string {
  const { atMs, step, currentReplicas, proposedReplicas, desiredReplicas, isScaled, agrees, error } =
    decision;
  const asked = proposedReplicas === undefined ? '' : `, metrics ask for ${proposedReplicas}`;
  const done =
    agrees === undefined
      ? isScaled
        ? 'scaled'
        : 'stayed'
      : `dry run, ${agrees ? 'as' : 'other than'} the status says`;
  const replicas = `${currentReplicas ?? '?'} -> ${desiredReplicas ?? '?'}`;
  return `${objectTime(atMs)}  ${replicas}  ${done}  ${step}${asked}${error === undefined ? '' : `: ${error}`}`;
}
