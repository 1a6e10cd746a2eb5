import type { LoggedDecision } from './decision-log.ts';

/** Consecutive decisions with the same result. */
interface DecisionRun {
  readonly first: LoggedDecision;
  readonly last: LoggedDecision;
  readonly count: number;
  /** The least and the greatest proposal of the metrics; `undefined` if there is none. */
  readonly proposed: { readonly lowest: number; readonly greatest: number } | undefined;
}

/** Groups consecutive decisions with the same result, in their order; proposals may differ. */
export function decisionRuns(decisions: readonly LoggedDecision[]): readonly DecisionRun[] {
  const runs: DecisionRun[] = [];
  for (const decision of decisions) {
    const run = runs.at(-1);
    if (run && isSameResult(run.last, decision)) {
      const proposed = widened(run.proposed, decision.proposedReplicas);
      runs[runs.length - 1] = { first: run.first, last: decision, count: run.count + 1, proposed };
    } else {
      const proposed = widened(undefined, decision.proposedReplicas);
      runs.push({ first: decision, last: decision, count: 1, proposed });
    }
  }
  return runs;
}

function isSameResult(one: LoggedDecision, other: LoggedDecision): boolean {
  return (
    one.step === other.step &&
    one.currentReplicas === other.currentReplicas &&
    one.desiredReplicas === other.desiredReplicas &&
    one.isScaled === other.isScaled &&
    one.agrees === other.agrees &&
    one.error === other.error
  );
}

function widened(range: DecisionRun['proposed'], proposed: number | undefined): DecisionRun['proposed'] {
  if (proposed === undefined) return range;
  const { lowest = proposed, greatest = proposed } = range ?? {};
  return { lowest: Math.min(lowest, proposed), greatest: Math.max(greatest, proposed) };
}

/**
 * Formats decisions, latest first, with one line for each run: `11:34–11:41  28 × stayed at 5, metrics propose 4 to 5`.
 * Times are in UTC, with the date where it is another than that of the line above.
 */
export function formatDecisionRuns(decisions: readonly LoggedDecision[]): readonly string[] {
  let day = '';
  return decisionRuns(decisions)
    .toReversed()
    .flatMap((run) => {
      const date = isoTime(run.last.atMs).slice(0, 10);
      const heading = date === day ? [] : [date];
      day = date;
      return [...heading, `${formatTimes(run)}  ${formatResult(run)}`];
    });
}

const MINUTE_MS = 60_000;

function formatTimes({ first, last }: DecisionRun): string {
  const [from, until] = [isoTime(first.atMs).slice(11, 19), isoTime(last.atMs).slice(11, 19)];
  if (first === last) return until;
  const isShort = last.atMs - first.atMs < 2 * MINUTE_MS;
  return isShort ? `${from}–${until}` : `${from.slice(0, 5)}–${until.slice(0, 5)}`;
}

function formatResult({ last, count, proposed }: DecisionRun): string {
  const { step, agrees, error } = last;
  const times = count === 1 ? '' : `${count} × `;
  const dryRun = agrees === undefined ? '' : ` (dry run: ${agrees ? 'same as' : 'differs from'} the status)`;
  const why = step === 'metrics' ? '' : `: ${step.replaceAll('-', ' ')}`;
  const range = proposed && (proposed.lowest === proposed.greatest ? '' : `${proposed.lowest} to `);
  const proposal = proposed ? `, metrics propose ${range}${proposed.greatest}` : '';
  return `${times}${describeResult(last)}${dryRun}${why}${proposal}${error === undefined ? '' : `: ${error}`}`;
}

/** The result of a decision: `scaled from 2 to 4`, `stayed at 4`; in a dry run, what would be. */
function describeResult({
  currentReplicas: from,
  desiredReplicas: to,
  isScaled,
  agrees,
}: LoggedDecision): string {
  const isDryRun = agrees !== undefined;
  if (from === undefined) return isDryRun ? 'would not scale' : 'not scaled';
  if (to === undefined || to === from) return `${isDryRun ? 'would stay' : 'stayed'} at ${from}`;
  return `${isDryRun ? 'would scale' : isScaled ? 'scaled' : 'not scaled'} from ${from} to ${to}`;
}

function isoTime(atMs: number): string {
  return new Date(atMs).toISOString();
}
