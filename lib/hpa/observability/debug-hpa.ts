import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import { refuseUnknownParameters } from '#lib/apiserver/http/query-values.ts';
import { badRequest, methodNotAllowed, notFound } from '#lib/apiserver/http/status-error.ts';
import { shortenSelectors } from '#lib/kubernetes/selectors/readable-selectors.ts';
import { printableLines } from '#lib/telemetry/printable.ts';
import { formatTimestamp } from '#lib/time/timestamp.ts';
import type { Explanation } from '../decision/decision.ts';
import { explainDecision } from '../explain/explain-decision.ts';
import type { MinReplicasReport } from '../min-replicas/min-replicas-report.ts';
import { type DecisionLog, type HpaDecisions, type LoggedDecision, shortened } from './decision-log.ts';
import { formatDecisionRuns } from './decision-runs.ts';

/**
 * `/debug/hpa?namespace=&name=`: the last decision of an HPA, explained. JSON, or text with `format=text` or for clients that
 * do not accept JSON; without a name, a summary of all HPAs.
 */
export function debugHpa(decisions: DecisionLog, autoMin: Pick<MinReplicasReport, 'find'>): Endpoint {
  return (context) => {
    if (context.method !== 'GET' && context.method !== 'HEAD') throw methodNotAllowed();
    const { query } = context.state;
    refuseUnknownParameters(query, ['namespace', 'name', 'format']);
    const format = query.get('format') ?? (context.accepts('json', 'text') === 'text' ? 'text' : 'json');
    if (format !== 'json' && format !== 'text')
      throw badRequest('the parameter "format" must be "json" or "text"');
    const namespace = query.get('namespace') ?? '';
    const name = query.get('name') ?? '';
    const found = namespace !== '' && name !== '' ? decisions.find(`${namespace}/${name}`) : undefined;
    if (name !== '' && !found) throw notFound(HPAS, `${namespace}/${name}`);
    const minimum = found && autoMin.find(`${found.namespace}/${found.name}`);
    const all = [...decisions.values()].filter((one) => namespace === '' || one.namespace === namespace);
    const text =
      format === 'json'
        ? JSON.stringify(
            found ? { ...found, autoMinReplicas: minimum } : { hpas: all.map(inShort) },
            undefined,
            2,
          )
        : found
          ? hpaText(found, minimum)
          : all.map(lineOf).join('\n');
    context.type = format === 'json' ? 'application/json' : 'text/plain; charset=utf-8';
    context.body = Buffer.from(`${printableLines(text)}\n`);
  };
}

const HPAS = { group: 'autoscaling', resource: 'horizontalpodautoscalers' };

function inShort({ namespace, name, decisions }: HpaDecisions): object {
  return { namespace, name, latest: decisions.at(-1) };
}

function lineOf({ namespace, name, decisions }: HpaDecisions): string {
  const latest = decisions.at(-1);
  return `${namespace}/${name}  ${latest ? decisionLine(latest) : ''}`;
}

/** Selectors and server messages may be as long as an object. */
const MAX_LINE_LENGTH = 1000;
/** An object has room for many metrics. */
const MAX_LINES = 200;

/**
 * Explains the replicas of an HPA as text.
 *
 * @param minimum the report of automatic minReplicas
 */
export function hpaText(
  { namespace, name, explanation, other, decisions, problem }: HpaDecisions,
  minimum: string | undefined,
): string {
  return [
    `HorizontalPodAutoscaler ${namespace}/${name}`,
    ...(other
      ? [
          `not scaled: "${other.manager}" wrote the status of this HPA at ${formatTimestamp(other.writtenAtMs)}`,
        ]
      : []),
    ...(explanation
      ? [
          `decided at ${formatTimestamp(explanation.atMs)}`,
          ...calculation(explanation, decisions.at(-1)?.agrees !== undefined),
        ]
      : []),
    ...(problem === undefined ? [] : [`ignored: ${problem}`]),
    ...(minimum === undefined ? [] : [`automatic minReplicas: ${minimum}`]),
    '',
    `last ${decisions.length} decisions, latest first, in UTC:`,
    ...formatDecisionRuns(decisions).map(shortenSelectors),
  ].join('\n');
}

function calculation(explanation: Explanation, isHypothetical: boolean): readonly string[] {
  const lines = explainDecision(explanation, { isHypothetical })
    .split('\n')
    .map((line) => shortened(shortenSelectors(line), MAX_LINE_LENGTH));
  if (lines.length <= MAX_LINES) return lines;
  const half = MAX_LINES / 2; // the result is at the end
  return [
    ...lines.slice(0, half),
    `… ${lines.length - MAX_LINES} more lines; JSON has all of them …`,
    ...lines.slice(-half),
  ];
}

/** Formats one decision as a line. */
export function decisionLine(decision: LoggedDecision): string {
  const { atMs, step, currentReplicas, proposedReplicas, desiredReplicas, isScaled, agrees, error } =
    decision;
  const proposed = proposedReplicas === undefined ? '' : `, metrics propose ${proposedReplicas}`;
  const done =
    agrees === undefined
      ? isScaled
        ? 'scaled'
        : 'stayed'
      : `dry run, ${agrees ? 'same as' : 'differs from'} the status`;
  const replicas = `${currentReplicas ?? '?'} -> ${desiredReplicas ?? '?'}`;
  return `${formatTimestamp(atMs)}  ${replicas}  ${done}  ${step}${proposed}${error === undefined ? '' : `: ${error}`}`;
}
